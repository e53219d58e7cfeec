"""Phonemes hold the sounds a listener expects, in the alphabets the voices know."""
from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.errors import SpeechError
from models.text import Run, plan_segments
from models.text.phonemes import KOKORO_LANGUAGES, espeak, kokoro, kokoro_runs
from models.text.phonemes.alphabet import VOCABULARY

EXPECTED = [
    # words whose sound hangs on their role
    ("en", "I read the book yesterday, and I will read it again.", ["ɹˈɛd ðə", "wɪl ɹˈid"]),
    ("en", "He read it aloud.", ["hˌi ɹˈɛd"]),
    ("en", "They live near a live wire.", ["lˈɪv nˌɪɹ", "lˈIv wˈIəɹ"]),
    ("en", "We watched the game live.", ["lˈIv"]),
    ("en", "The lead singer fixed a lead pipe.", ["lˈid sˈɪŋəɹ", "lˈɛd pˈIp"]),
    ("en", "Please record the record.", ["ɹəkˈɔɹd ðə ɹˈɛkəɹd"]),
    ("en", "Close the door, we are too close to the road.", ["klˈOz ðə", "klˈOs tə"]),
    ("en", "A tear fell; don't tear it up.", ["tˈɪɹ fˈɛl", "tˈɛɹ ɪt"]),
    ("en", "The wind blows. Wind the clock.", ["wˈɪnd blˈOz", "wˈInd ðə"]),
    ("en", "I object to the object.", ["əbʤˈɛkt", "ˈɑbʤəkt"]),
    ("en", "The bass player came.", ["bˈAs"]),
    ("en", "It costs $5.", ["fˈIv dˈɑləɹz"]),
    ("en", "NASA and the FBI", ["nˈæsə", "ˌɛfbˌiˈI"]),
    ("en", "Kubernetes, zyxgo!", ["kˌubəɹnˈɛTiz", "zˈɪksɡO!"]),
    ("en-gb", "The schedule can't change, tomato.", ["ʃˈɛdjuːl", "kˈɑːnt", "təmˈɑːtQ"]),
    ("zh", "今天天气很好。", ["ʨi→ntʰjɛ→n", "tʰjɛ→nʨʰi↘", "xə↓n", "xau↓."]),
    ("zh", "银行行长在重庆长大。", ["i↗nxa↗ŋ", "xa↗ŋꭧa↓ŋ", "ꭧʰʊ↗ŋʨʰi↘ŋ", "ꭧa↓ŋta↘"]),
    ("zh", "我们都觉得，是吗？", ["wo↓mən", "tou→", "ʨɥe↗tɤ, ʂɨ↘ ma?"]),
    ("zh", "花了5999元", ["xwa→ lɤ", "u↓ʨʰjɛ→n", "ɥɛ↗n"]),
    ("zh", "女儿喜欢音乐。", ["ny↓ɚ↗", "i→nɥe↘"]),
    ("ja", "今日は良い天気です。", ["kʲoː βa", "teŋkʲi", "desɨ."]),
    ("ja", "東京へ行く。", ["toːkʲoː e"]),
    ("ja", "ちょっと待って、コーヒーを3杯。", ["ʨoʔto maʔte,", "koːçiː o", "bai"]),
    ("ja", "新聞、天ぷら、看護、こんにゃく", ["ɕimbɯɴ", "tempɯɾa", "kaŋɡo", "koɲɲakɯ"]),
    ("ja", "ウィキペディア、ヴァイオリン、ファイル", ["βikʲipedʲia", "vaioɾʲiɴ", "ɸaiɾɯ"]),
    ("ja", "「はい」と言った！", ["“hai” to", "iʔta!"]),
    ("es", "El perro corre rápido, ¿qué año?", ["pˈero", "rˈapiðo,", "ˈaɲo?"]),
    ("es", "Me llamo Juan y vivo en Madrid.", ["xwˈan", "maðɾˈið|maðɾˈid"]),
    ("fr", "Un bon vin blanc, s'il vous plaît.", ["bˈɔ̃", "blˈɑ̃,"]),
    ("fr", "Les enfants mangent une pomme.", ["ɑ̃fˈɑ̃", "pˈɔm."]),
    ("it", "Ho mangiato gli gnocchi.", ["manʤˈato", "ʎɪ", "ɲˈok"]),
    ("pt", "Não, obrigado, coração.", ["nˈɐ̃ʊ̃,", "obɾiɡˈadʊ|obriɡˈadʊ"]),
    ("hi", "मेरा नाम राम है।", ["mˌeːɾaː", "nˈaːm", "hɛː."]),
]


@pytest.mark.parametrize("language, text, sounds", EXPECTED, ids=[f"{row[0]}-{row[1]}" for row in EXPECTED])
def test_key_sounds(language, text, sounds):
    said = kokoro(text, language)
    assert set(said) <= VOCABULARY.keys()
    for sound in sounds:
        assert any(variant in said for variant in sound.split("|")), said


def planned(text, language="auto"):
    return plan_segments(text, language, KOKORO_LANGUAGES, 60, 200)


@pytest.mark.parametrize("text, main, runs, sounds", [
    ("我用Python写code，每天2小时。", "zh", ["zh", "en", "zh", "en", "zh"], ["pˈIθˌɑn", "kˈOd, mei↓tʰjɛ→n", "lja↓ŋ"]),
    ("我买了iPhone 15 Pro，花了5999元！", "zh", ["zh", "en", "zh"], ["ˈIfˌOn fˌɪftˈin", "u↓ʨʰjɛ→n"]),
    ("A股大涨3%。", "zh", ["en", "zh"], ["ˈA ku↓"]),
    ("请访问www.example.com。", "zh", ["zh", "en"], ["fa↓ŋwə↘n", "dˈɑt kˈɑm."]),
    ("The word 你好 means hello.", "en", ["en", "zh", "en"], ["wˈɜɹd ni↓xau↓ mˈinz"]),
    ("他说：“Hello, how are you?”然后走了。", "zh", ["zh", "en", "zh"], ["“həlˈO,", "ju?”", "ɻa↗nxou↘"]),
    ("昨日Googleで検索しました。", "ja", ["ja", "en", "ja"], ["ɡˈuɡᵊl de"]),
    ("NHKは5kgです。", "ja", ["ja"], ["kʲiɾo"]),
    ("气温25°C，跑了10km。", "zh", ["zh"], ["ʂɤ↘ʂɨ↘tu↘"]),
])
def test_mixed_languages(text, main, runs, sounds):
    found, segments = planned(text)
    assert found == main
    assert [run.language for segment in segments for run in segment.runs] == runs
    said = " ".join(kokoro_runs(segment.runs) for segment in segments)
    assert set(said) <= VOCABULARY.keys()
    for sound in sounds:
        assert sound in said


def test_an_explicit_language_overrides_where_it_can():
    def languages(text, language):
        return [run.language for segment in planned(text, language)[1] for run in segment.runs]

    assert languages("Say 你好 now", "en") == ["en", "zh", "en"]
    assert languages("東京都", "ja") == ["ja"] and languages("东京都", "zh") == ["zh"]
    assert languages("Bonjour tout le monde", "en") == ["en"] and languages("hello", "fr") == ["fr"]
    assert planned("你好", "en")[0] == "en"


@pytest.mark.parametrize("text, language", [
    ("Hello there.", "en"), ("Hi", "en"), ("No", "en"), ("Hello world from Madrid, Paris and Roma", "en"),
    ("The café served crème brûlée to us.", "en"),
    ("Hola, ¿cómo estás? Me llamo Juan.", "es"), ("Bonjour tout le monde, comment allez-vous ?", "fr"),
    ("Ciao a tutti, come state oggi?", "it"), ("Olá, tudo bem? Eu não sei.", "pt"), ("नमस्ते दुनिया", "hi"),
    ("你好世界", "zh"), ("こんにちは世界", "ja"), ("駅前の店", "ja"), ("東京駅", "ja"), ("北京大学", "zh"),
])
def test_language_is_found(text, language):
    assert planned(text)[0] == language


def test_languages_change_between_sentences():
    _, segments = planned("Good morning, everyone. Bonjour à tous, je suis très heureux d'être ici. 你们好。みなさん、こんにちは。")
    assert [run.language for segment in segments for run in segment.runs] == ["en", "fr", "zh", "ja"]


def test_english_variant():
    runs = [Run("tomato", "en")]
    assert kokoro_runs(runs, "en-gb") != kokoro_runs(runs, "en-us")


def test_latin_letters_left_in_chinese_are_read():
    assert "ˈAˌI" in kokoro("用AI打印", "zh")


def test_nothing_to_say():
    assert kokoro("😀 !!!", "en") == "" and kokoro_runs([Run("…", "zh")]) == ""


def piper_rows():
    lines = (Path(__file__).parent / "piper_phonemes.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("text, expected", piper_rows())
def test_espeak_says_what_piper_says(text, expected):
    assert espeak(text, "en-us") == expected


@pytest.mark.parametrize("voice, text, sound", [
    ("de", "Guten Tag, wie geht es Ihnen?", "ɡˈuːtən tˈɑːk,"), ("fr-fr", "Bonjour.", "bɔ̃ʒˈuʁ."),
    ("cmn", "你好。", "ni"), ("en-gb", "tomato", "təmˈɑːtəʊ"), ("es-419", "gracias", "ɡɾˈasjas"),
])
def test_espeak_voices(voice, text, sound):
    assert sound in espeak(text, voice)


def test_unknown_espeak_voice():
    with pytest.raises(ValueError, match="no-such"):
        espeak("hello", "no-such")


def test_many_threads_get_their_own_phonemes():
    texts = {voice: f"{word}, number one?" for voice, word in
             {"en-us": "tomato", "de": "straße", "fr-fr": "bonjour", "es": "gracias"}.items()}
    alone = {voice: espeak(text + " again", voice) for voice, text in texts.items()}
    wrong = []

    def work(voice):
        from models.text.phonemes import espeak_ng

        for _ in range(30):
            if espeak_ng.ipa(texts[voice] + " again", voice) != alone[voice]:
                wrong.append(voice)

    threads = [threading.Thread(target=work, args=(voice,)) for voice in texts for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=80) | st.text(alphabet="aZ9 .,!?'\"-—()我不，。のカー漢字ñéß$%@/:\n[]^", max_size=80))
@example(text="xð")
@example(text="xå")
def test_whatever_is_planned_has_phonemes(text):
    try:
        _, segments = planned(text)
    except SpeechError:
        return
    for segment in segments:
        said = kokoro_runs(segment.runs)
        assert set(said) <= VOCABULARY.keys()
        if any(char.isascii() and char.isalnum() or "\u4e00" <= char <= "\u9fa5" for char in segment.text):
            assert said.strip(" ,.;:!?—…()“”\"")
        for run in segment.runs:
            assert isinstance(espeak(run.text, "en-us"), str)

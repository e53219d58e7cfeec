"""What a clip's figures mean for the voice made from it, in one plain sentence each."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GOOD, FAIR, POOR = "good", "fair", "poor"


@dataclass(frozen=True)
class Finding:
    """about: duration, pauses, clipping, noise, speakers, telephone, cut, damaged or transcript. level: good, fair or
    poor. value: the figure behind it, in `unit` ("" for a share or a count). sentences: by language ("en", "zh")."""

    about: str
    level: str
    value: float
    unit: str
    sentences: Mapping[str, str]

    def sentence(self, language: str = "en") -> str:
        return self.sentences.get(language, self.sentences["en"])


def duration(seconds: float) -> Finding:
    said = f"{seconds:.1f}"
    if seconds >= 10:
        return Finding("duration", GOOD, seconds, "s", {
            "en": f"{said} s of speech: enough for a good likeness.", "zh": f"有 {said} 秒人声，足以克隆得相像。"})
    if seconds >= 4:
        return Finding("duration", FAIR, seconds, "s", {
            "en": f"{said} s of speech: it will do, and 10 s or more would be more alike.",
            "zh": f"有 {said} 秒人声，可以使用；10 秒以上会更像。"})
    return Finding("duration", POOR, seconds, "s", {
        "en": f"Only {said} s of speech: the voice will be a rough guess, so please record 10 s.",
        "zh": f"只有 {said} 秒人声，声音只能大致相似，建议录 10 秒。"})


def pauses(share: float) -> Finding:
    percent = round(100 * share)
    if share >= 0.6:
        return Finding("pauses", GOOD, share, "", {
            "en": f"{percent} % of the recording is speech: nothing to do.", "zh": f"录音中 {percent}% 是人声，无需处理。"})
    return Finding("pauses", FAIR, share, "", {
        "en": f"Only {percent} % of the recording is speech: the long pauses were taken out.",
        "zh": f"录音中只有 {percent}% 是人声，较长的停顿已去掉。"})


def clipping(share: float) -> Finding:
    percent = f"{100 * share:.1f}"
    if share < 0.0005:
        return Finding("clipping", GOOD, share, "", {
            "en": "The recording is not too loud: nothing is distorted.", "zh": "录音音量合适，没有失真。"})
    if share < 0.005:
        return Finding("clipping", FAIR, share, "", {
            "en": f"{percent} % of the recording is too loud and distorted: the voice may sound a little rough.",
            "zh": f"录音有 {percent}% 因过响而失真，声音可能略显粗糙。"})
    return Finding("clipping", POOR, share, "", {
        "en": f"{percent} % of the recording is too loud and distorted: the voice will sound rough, so please move away from "
              f"the microphone and record again.",
        "zh": f"录音有 {percent}% 因过响而失真，声音会很粗糙，请离麦克风远一点重新录。"})


def noise(decibels: float) -> Finding:
    said = f"{decibels:.0f}"
    if decibels >= 30:
        return Finding("noise", GOOD, decibels, "dB", {
            "en": "The room is quiet: the voice will be clear.", "zh": "环境安静，声音会很清晰。"})
    if decibels >= 15:
        return Finding("noise", FAIR, decibels, "dB", {
            "en": f"There is some noise ({said} dB below the voice): a little of it may be heard in the result.",
            "zh": f"有一些噪音（比人声低 {said} 分贝），结果中可能略有杂音。"})
    return Finding("noise", POOR, decibels, "dB", {
        "en": f"It is noisy (only {said} dB below the voice): the result will be noisy and less alike, so please record in a "
              f"quiet room.",
        "zh": f"噪音很大（只比人声低 {said} 分贝），结果会有杂音且不够像，请在安静的房间重新录。"})


def speakers(count: int) -> Finding:
    if count == 1:
        return Finding("speakers", GOOD, 1, "", {
            "en": "One person speaks: the voice will be theirs.", "zh": "只有一个人说话，声音会像这个人。"})
    return Finding("speakers", POOR, count, "", {
        "en": f"It sounds like {count} people: the result would be a blend of them, so please use a part with one person.",
        "zh": f"听起来有 {count} 个人说话，结果会混在一起，请只用一个人说话的片段。"})


def telephone(rate: int) -> Finding:
    return Finding("telephone", FAIR, rate, "Hz", {
        "en": f"The recording has telephone quality ({rate / 1000:g} kHz): the voice may sound dull.",
        "zh": f"录音为电话音质（{rate / 1000:g} kHz），声音可能发闷。"})


def cut(kept: float, limit: float) -> Finding:
    return Finding("cut", FAIR, kept, "s", {
        "en": f"The recording is long: the first {kept:.0f} s of speech are used, the most being {limit:.0f} s.",
        "zh": f"录音较长，使用了前 {kept:.0f} 秒人声（最多 {limit:.0f} 秒）。"})


def damaged() -> Finding:
    return Finding("damaged", FAIR, 1, "", {
        "en": "The file is damaged or cut off: what could be read of it is used.",
        "zh": "文件已损坏或不完整，使用了能读取的部分。"})


def transcript(error: float, matches: bool) -> Finding:
    percent = round(100 * min(error, 1))
    if matches:
        return Finding("transcript", GOOD, error, "", {
            "en": "The transcript matches what is said in the clip.", "zh": "文字稿与录音内容相符。"})
    return Finding("transcript", POOR, error, "", {
        "en": f"The transcript doesn't match the clip ({percent} % of its words differ): please correct it, or the result may be "
              f"garbled.",
        "zh": f"文字稿与录音不符（{percent}% 的词不同），请改正，否则结果可能混乱。"})

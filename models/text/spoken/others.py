"""Spanish, French, Italian, Portuguese, Hindi in spoken form: numbers by num2words (Hindi's by espeak-ng), and signs."""
from __future__ import annotations

import re

from models.text.spoken.codes import spell_addresses

_POINT = {"es": "coma", "fr": "virgule", "it": "virgola", "pt": "vírgula"}
_MINUS = {"es": "menos", "fr": "moins", "it": "meno", "pt": "menos"}
_TO = {"es": "a", "fr": "à", "it": "a", "pt": "a"}
_SIGNS = {
    "es": {"%": "por ciento", "&": "y", "+": "más", "=": "igual a", "@": "arroba", "°": "grados", "€": "euros",
           "$": "dólares", "£": "libras", "¥": "yenes", "#": "número", "№": "número", "°C": "grados centígrados"},
    "fr": {"%": "pour cent", "&": "et", "+": "plus", "=": "égale", "@": "arobase", "°": "degrés", "€": "euros",
           "$": "dollars", "£": "livres", "¥": "yens", "#": "numéro", "№": "numéro", "°C": "degrés"},
    "it": {"%": "per cento", "&": "e", "+": "più", "=": "uguale", "@": "chiocciola", "°": "gradi", "€": "euro",
           "$": "dollari", "£": "sterline", "¥": "yen", "#": "numero", "№": "numero", "°C": "gradi"},
    "pt": {"%": "por cento", "&": "e", "+": "mais", "=": "igual a", "@": "arroba", "°": "graus", "€": "euros",
           "$": "dólares", "£": "libras", "¥": "ienes", "#": "número", "№": "número", "R$": "reais", "°C": "graus"},
    "hi": {"%": "प्रतिशत", "&": "और", "+": "धन", "=": "बराबर", "@": "ऐट", "°": "डिग्री", "€": "यूरो", "$": "डॉलर",
           "£": "पाउंड", "¥": "येन", "₹": "रुपये", "#": "नंबर", "№": "नंबर", "°C": "डिग्री सेल्सियस"},
}
_UNITS = {
    "es": {"km/h": "kilómetros por hora", "km": "kilómetros", "kg": "kilos", "cm": "centímetros", "mm": "milímetros",
           "m": "metros", "g": "gramos", "ml": "mililitros", "l": "litros"},
    "fr": {"km/h": "kilomètres heure", "km": "kilomètres", "kg": "kilos", "cm": "centimètres", "mm": "millimètres",
           "m": "mètres", "g": "grammes", "ml": "millilitres", "l": "litres"},
    "it": {"km/h": "chilometri all'ora", "km": "chilometri", "kg": "chili", "cm": "centimetri", "mm": "millimetri",
           "m": "metri", "g": "grammi", "ml": "millilitri", "l": "litri"},
    "pt": {"km/h": "quilômetros por hora", "km": "quilômetros", "kg": "quilos", "cm": "centímetros", "mm": "milímetros",
           "m": "metros", "g": "gramas", "ml": "mililitros", "l": "litros"},
    "hi": {"km/h": "किलोमीटर प्रति घंटा", "km": "किलोमीटर", "kg": "किलो", "cm": "सेंटीमीटर", "mm": "मिलीमीटर", "m": "मीटर",
           "g": "ग्राम", "ml": "मिलीलीटर", "l": "लीटर"},
}
_HOUR = {"es": " y ", "fr": " heures ", "it": " e ", "pt": " horas e ", "hi": " बजकर "}
_TITLES = {
    "es": {"Sr.": "señor", "Sra.": "señora", "Srta.": "señorita", "Dr.": "doctor", "Dra.": "doctora", "Ud.": "usted",
           "Uds.": "ustedes", "etc.": "etcétera", "EE. UU.": "Estados Unidos", "EE.UU.": "Estados Unidos"},
    "fr": {"M.": "monsieur", "Mme": "madame", "Mlle": "mademoiselle", "Dr": "docteur", "etc.": "et cetera"},
    "it": {"Sig.": "signor", "Sig.ra": "signora", "Dott.": "dottor", "ecc.": "eccetera", "Dott.ssa": "dottoressa"},
    "pt": {"Sr.": "senhor", "Sra.": "senhora", "Dr.": "doutor", "Dra.": "doutora", "etc.": "et cetera"},
    "hi": {"डॉ.": "डॉक्टर", "श्री.": "श्री"},
}


def _words(number: str, language: str) -> str:
    """A number as written in these languages: 1.234,5 with points between thousands (3.14 is read as it must be meant)."""
    from num2words import num2words

    code = {"pt": "pt_BR"}.get(language, language)
    if re.fullmatch(r"\d{1,3}([.\u0020])\d{3}(?:\1\d{3})*(?:,\d+)?", number):
        number = re.sub(r"[. ]", "", number)
    whole, _, rest = re.sub(r",(?=\d{3}(?:\D|$)(?=.*\.))", "", number).replace(",", ".").partition(".")
    if len(whole) > 15 or (len(whole) > 1 and whole[0] == "0"):
        return " ".join(num2words(int(digit), lang=code) for digit in whole + rest)
    words = num2words(int(whole), lang=code)
    if rest:
        words += f" {_POINT[language]} " + (num2words(int(rest), lang=code) if len(rest) < 3 and rest[0] != "0" else
                                            " ".join(num2words(int(digit), lang=code) for digit in rest))
    return words


def spoken(text: str, language: str) -> str:
    text = spell_addresses(text, language)
    signs, units = _SIGNS.get(language, {}), _UNITS.get(language, {})
    for short, full in _TITLES.get(language, {}).items():
        text = re.sub(rf"(?<!\w){re.escape(short)}(?!\w)", full, text)
    text = re.sub(r"(R\$|[$€£¥₹])\s?(\d+(?:[.,\u0020]\d+)*)", r"\2 \1", text)
    if units:
        names = "|".join(sorted(map(re.escape, units), key=len, reverse=True))
        text = re.sub(rf"(?<=\d)\s?({names})(?![\w/])", lambda m: " " + units[m.group(1)], text)
    text = re.sub(r"(?<![\d:])([01]?\d|2[0-3])\s?[:hH]\s?([0-5]\d)(?![\d:])",
                  lambda m: m.group(1) + _HOUR.get(language, " ") + ("" if m.group(2) == "00" else str(int(m.group(2)))), text)
    if language in _TO:
        text = re.sub(r"(?<=\d)\s?[-–]\s?(?=\d)", f" {_TO[language]} ", text)
        text = re.sub(r"(?:(?<=\s)|^)-(?=\d)", _MINUS[language] + " ", text)
        text = re.sub(r"\d{1,3}(?:[.\u0020]\d{3})+(?:,\d+)?(?!\d)|\d+(?:[.,]\d+)?",
                      lambda m: f" {_words(m.group(), language)} ", text)
    for sign in sorted(signs, key=len, reverse=True):
        text = text.replace(sign, f" {signs[sign]} ")
    text = re.sub(r"[*_|\\^`~<>#{}\[\]/]+", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"\s+([,.;:!?])", r"\1", text)).strip()

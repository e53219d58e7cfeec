"""English abbreviations, units, currencies and symbols in words."""
from __future__ import annotations

MONTHS = ("January February March April May June July August September October November December").split()
MONTH = {name[:3].lower(): name for name in MONTHS} | {name.lower(): name for name in MONTHS} | {"sept": "September"}
WEEKDAYS = {"mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday",
            "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday"}
# symbol or code -> (one, many), (small one, small many)
CURRENCIES = {
    "$": (("dollar", "dollars"), ("cent", "cents")), "US$": (("U S dollar", "U S dollars"), ("cent", "cents")),
    "€": (("euro", "euros"), ("cent", "cents")), "£": (("pound", "pounds"), ("penny", "pence")),
    "¥": (("yen", "yen"), None), "₹": (("rupee", "rupees"), ("paisa", "paise")), "₩": (("won", "won"), None),
    "USD": (("U S dollar", "U S dollars"), ("cent", "cents")), "EUR": (("euro", "euros"), ("cent", "cents")),
    "GBP": (("pound", "pounds"), ("penny", "pence")), "JPY": (("yen", "yen"), None),
    "CNY": (("yuan", "yuan"), None), "RMB": (("yuan", "yuan"), None), "HK$": (("Hong Kong dollar", "Hong Kong dollars"), None),
}
UNITS = {
    "kg": "kilogram", "g": "gram", "mg": "milligram", "lb": "pound", "lbs": "pound", "oz": "ounce", "t": "ton",
    "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "nm": "nanometer", "m": "meter", "mi": "mile",
    "ft": "foot", "in": "inch", "yd": "yard", "l": "liter", "L": "liter", "ml": "milliliter", "mL": "milliliter",
    "m²": "square meter", "m2": "square meter", "km²": "square kilometer", "km2": "square kilometer",
    "m³": "cubic meter", "m3": "cubic meter", "sq ft": "square foot", "ft²": "square foot", "㎡": "square meter",
    "km/h": "kilometer per hour", "kph": "kilometer per hour", "mph": "mile per hour", "m/s": "meter per second",
    "s": "second", "sec": "second", "ms": "millisecond", "min": "minute", "mins": "minute", "h": "hour", "hr": "hour",
    "hrs": "hour", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "kB": "kilobyte",
    "Mbps": "megabit per second", "Gbps": "gigabit per second", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz",
    "GHz": "gigahertz", "W": "watt", "kW": "kilowatt", "MW": "megawatt", "kWh": "kilowatt hour", "V": "volt",
    "mA": "milliamp", "mAh": "milliamp hour", "kcal": "kilocalorie", "cal": "calorie", "dB": "decibel",
    "°C": "degree Celsius", "℃": "degree Celsius", "°F": "degree Fahrenheit", "℉": "degree Fahrenheit", "°": "degree",
    "px": "pixel", "tbsp": "tablespoon", "tsp": "teaspoon", "psi": "P S I", "ppm": "part per million", "bpm": "beat per minute", "rpm": "R P M", "fps": "frame per second",
}
_UNCHANGED = frozenset("hertz kilohertz megahertz gigahertz".split())
# with the period they are written with; before a name or number, or anywhere
BEFORE_NAME = {
    "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Prof": "Professor", "Gen": "General", "Col": "Colonel",
    "Sgt": "Sergeant", "Capt": "Captain", "Lt": "Lieutenant", "Rev": "Reverend", "Hon": "Honorable", "Sen": "Senator",
    "Rep": "Representative", "Gov": "Governor", "Pres": "President", "Mt": "Mount", "Ft": "Fort", "Cmdr": "Commander",
    "Maj": "Major", "Fr": "Father", "Supt": "Superintendent", "Messrs": "Messieurs",
}
AFTER_NAME = {"Jr": "Junior", "Sr": "Senior", "Inc": "Incorporated", "Ltd": "Limited", "Corp": "Corporation",
              "Co": "Company", "Bros": "Brothers", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane",
              "Hwy": "Highway", "Sq": "Square", "Pl": "Place", "Pkwy": "Parkway"}
ANYWHERE = {
    "e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus", "vs": "versus", "approx.": "approximately",
    "dept.": "department", "Dept.": "Department", "est.": "established", "govt.": "government", "cf.": "compare",
    "viz.": "namely", "et al.": "and others", "w/o": "without", "w/": "with", "a.k.a.": "also known as", "aka": "also known as",
    "misc.": "miscellaneous", "max.": "maximum", "min.": "minimum", "no.": "number", "Ph.D.": "P H D", "ASAP": "A S A P",
    "tel.": "telephone", "Tel.": "Telephone", "ext.": "extension", "incl.": "including", "ca.": "circa", "P.S.": "P S",
}
BEFORE_NUMBER = {"No": "number", "Nos": "numbers", "no": "number", "Fig": "figure", "fig": "figure", "Vol": "volume",
                 "vol": "volume", "p": "page", "pp": "pages", "Ch": "chapter", "ch": "chapter", "Sec": "section",
                 "sec": "section", "Art": "article", "Eq": "equation", "Nr": "number", "Apt": "apartment", "apt": "apartment", "Ste": "suite"}
SYMBOLS = {"&": " and ", "@": " at ", "=": " equals ", "±": " plus or minus ", "×": " times ", "÷": " divided by ",
           "≈": " about ", "≠": " does not equal ", "≤": " is at most ", "≥": " is at least ", "°": " degrees ",
           "√": " square root of ", "∞": " infinity ", "→": " to ", "§": " section ", "©": " copyright ", "%": " percent ",
           "£": " pounds ", "€": " euros ", "$": " dollars ", "¥": " yen ", "₹": " rupees ", "№": " number ", "µ": " micro "}


def unit_name(unit: str, amount: str) -> str:
    """"km/h" and "1" -> kilometer per hour; everything but exactly one is plural."""
    name = UNITS[unit]
    if amount in ("1", "-1") or name in _UNCHANGED or name.isupper():
        return name
    if name == "foot" or name.endswith(" foot"):
        return name[:-4] + "feet"
    if name == "inch":
        return "inches"
    head, per, rest = name.partition(" per ")
    if head.startswith("degree"):
        return head.replace("degree", "degrees")
    return head + "s" + per + rest

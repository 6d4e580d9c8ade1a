"""Names of units and currencies, each with one normal form, and the endings and counters that stand at a number."""

from __future__ import annotations

_UNITS = """
ns nanosecond nanoseconds nanos nsec
us µs μs microsecond microseconds micros usec
ms millisecond milliseconds millis msec msecs
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
day days
week weeks wk wks
month months
year years yr yrs
am a.m
pm p.m
bit bits
byte bytes
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes gigs gig
tb terabyte terabytes
pb petabyte petabytes
kib kibibyte kibibytes
mib mebibyte mebibytes
gib gibibyte gibibytes
tib tebibyte tebibytes
kbps kbit/s
mbps mbit/s
gbps gbit/s
hz hertz
khz kilohertz
mhz megahertz
ghz gigahertz
mm millimeter millimeters millimetre millimetres
cm centimeter centimeters centimetre centimetres
m meter meters metre metres
km kilometer kilometers kilometre kilometres kms
inch inches
ft foot feet
yd yard yards
mile miles mi
mg milligram milligrams
g gram grams gramme grammes
kg kilogram kilograms kilo kilos kgs
lb lbs
oz ounce ounces
ton tons tonne tonnes
ml milliliter milliliters millilitre millilitres
l liter liters litre litres
gallon gallons gal
km/h kph kmh
mph
knot knots
w watt watts
kw kilowatt kilowatts
mw megawatt megawatts
kwh
v volt volts
a amp amps ampere amperes
mah
°c celsius centigrade
°f fahrenheit
k kelvin
° degree degrees deg
% percent percentage pct
bps bp
px pixel pixels
dollar dollars $ usd us$ bucks
eur euro euros €
gbp £ sterling quid
pound pounds
yen jpy ¥ 円
yuan cny rmb renminbi 元
rupee rupees inr ₹
won krw ₩ 원
chf franc francs
sek
nok
dkk
pln zloty zlotys
czk
brl
mxn peso pesos
rub ruble rubles rouble roubles ₽
btc bitcoin bitcoins
cent cents ¢
pence
"""
#: Spelling -> normal form.
UNITS: dict[str, str] = {name: line.split()[0] for line in _UNITS.strip().splitlines() for name in line.split()}
UNITS.update({code: code for code in ("cad", "aud", "nzd")})

CURRENCY_SIGNS = "$€£¥₹₩₽"
#: Names that may stand before the amount: ``EUR 5``.
CURRENCY_CODES = frozenset(
    "usd eur gbp jpy cny rmb inr krw chf cad aud nzd sek nok dkk pln czk brl mxn rub btc".split()
)
#: Units of which an amount has two decimals, so that 1.5 and 1.50 are one; a version has not.
DECIMAL_UNITS = frozenset(UNITS[name] for name in (*CURRENCY_CODES, *"% kg g km m cm mm l ml s ms h mb gb tb".split()))
ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
#: Characters after which a Han numeral is a number: counters, units and parts of dates.
COUNTERS = "个個月日号號年次人名点點時时分秒元円块天周週岁歳本枚番回台件位倍米层階万億亿"

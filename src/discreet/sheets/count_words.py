"""Numbers in words, and what is counted, in the languages of statistical offices."""

from __future__ import annotations

NOUNS = (
    "men|women|man|woman|people|persons?|patients?|pupils?|students?|cases?|deaths?|births?|residents?|child|children|"
    "boys?|girls?|males?|females?|respondents?|participants?|employees?|households?|records?|individuals?|in all|"
    "personen|patienten|fälle|männer|frauen|kinder|jungen|mädchen|personnes|cas|hommes|femmes|enfants|patients|filles|"
    "garçons|personas|casos|hombres|mujeres|niños|niñas|"
    "persone|casi|uomini|donne|pazienti|bambini|decessi|personen|gevallen|mannen|vrouwen|patiënten|kinderen|"
    "pessoas|homens|mulheres|crianças|óbitos|pacientes|personer|män|kvinnor|mænd|kvinder|menn|kvinner|"
    "henkilöä|miestä|naista|lasta|osoby|osób|mężczyzn|mężczyźni|kobiet|kobiety|dzieci|przypadki|przypadków|"
    "osob|muži|mužů|ženy|žen|dětí|případy|případů|fő|férfi|nő|gyermek|eset|kişi|erkek|kadın|çocuk|vaka|"
    "человека?|мужчины?|женщины?|женщин|детей|случая|случаев|чоловіків|жінок|άτομα|άνδρες|γυναίκες"
)
"""What stands behind a number that is a count."""
COUNTERS = "人|名|件|例|명|건"
"""What stands behind it without a blank, in Chinese, Japanese and Korean."""
_FROM_ONE = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn zwanzig",
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt",
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte",
)
_FROM_TWO = (  # "-" where the word is an English one, too
    "- tre quattro cinque sei sette otto nove dieci undici dodici",
    "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "dois três quatro cinco seis sete oito nove dez onze doze",
    "duas três quatro cinco seis sete oito nove dez onze doze",
    "två tre fyra fem - sju åtta nio tio elva tolv",
    "- tre - fem seks syv otte ni ti elleve tolv",
    "kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen",
    "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć",
    "dwóch trzech czterech pięciu sześciu siedmiu ośmiu dziewięciu dziesięciu",
    "dva tři čtyři pět šest sedm osm devět deset",
    "két három négy öt - hét nyolc kilenc tíz",
    "iki üç dört beş altı yedi sekiz dokuz",
    "два три четыре пять шесть семь восемь девять десять",
    "двое трое четверо пятеро шестеро семеро",
    "δύο τρεις τέσσερις πέντε έξι επτά οκτώ εννέα δέκα",
)
NUMBER_WORDS = {
    **{word: value for words in _FROM_TWO for value, word in enumerate(words.split(), 2) if word != "-"},
    **{word: value for words in _FROM_ONE for value, word in enumerate(words.split(), 1)},
}
SEVERAL_MEANINGS = frozenset(
    [
        "one",
        "un",
        "uno",
        "eins",
        "six",
        "sept",
        "once",
        "acht",
        "dix",
        "sei",
        "otto",
        "ti",
        "ni",
        "dez",
        "tre",
        "hét",
        "két",
        "fem",
    ]
)
"""Number words that mean something else in another of these languages."""
CJK_DIGITS = {sign: value for value, sign in enumerate("一二三四五六七八九十", 1)}

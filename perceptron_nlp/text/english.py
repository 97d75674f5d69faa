"""What the tokenizer knows of English: abbreviations, contractions, prefixes, units."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A full stop after these belongs to them. The first group hardly ever ends a sentence.
TITLES = _words("""
    mr mrs ms dr prof rev hon gen col lt sgt capt maj cpl cmdr gov sen rep reps pres supt fr sr st
    ft mt messrs mme mlle vs no nos vol fig figs sec ch pp p.o e.g i.e eg ie cf viz approx est attn
    spec conf arrv ext ph p.s ps
""")
OTHER_ABBREVIATIONS = _words("""
    inc ltd co corp bros llc plc dept univ assn etc al jr esq ave blvd rd hwy
    jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri sat sun
    a.m p.m a.k.a ph.d m.d d.c o.k hr hrs yr yrs lb lbs oz tel fax mob ass't gov't drs sts pvt
    calif fla mass mich minn penn tenn tex va wash wis ill ariz colo conn ont que
""")
ABBREVIATIONS = TITLES | OTHER_ABBREVIATIONS
# Those that are words too, and so are abbreviations with a capital letter alone.
CAPITALISED = _words("""
    no sat sun mar mon wed est co gen col hon rep sec ch fig fr mass wash ill tenn conn pres al ph
    ave rev mt fax ext wis tex fri dec jun jan la
""") - {"al", "no"}
# Before a number alone.
BEFORE_NUMBERS = _words("no nos pp p vol fig figs sec ch")

# Words written as one, and the length of the first part of each.
CONTRACTIONS = {
    **dict.fromkeys(_words("cannot gonna gotta"), 3),
    **{
        word: len(word) - 2
        for word in _words("""
        dont wont cant didnt doesnt isnt couldnt wouldnt shouldnt havent hasnt hadnt wasnt werent
        arent aint ive youve weve theyve youre theyre wanna youll theyll""")
    },
    **{word: len(word) - 1 for word in _words("im thats theres whats hes shes heres")},
}
CLITICS = _words("s re ve ll d m")
# With an apostrophe before them.
CLIPPED = _words("em til tis twas cause n bout cuz round")

# These keep their hyphen.
PREFIXES = _words("""
    non pre post anti pro co ex multi re semi mid un sub inter intra e micro macro mini neo ultra
    counter bi tri vice over under super hyper pseudo quasi trans de dis mis out psycho eco bio
    extra infra meta mega out proto socio techno tele x
""")
UNITS = (
    r"am|pm|AM|PM|a\.m|p\.m|[ck]?m²?|mm|km|kg|mg|ml|lbs?|oz|ft|sq|k|K|hrs?|mins?|mph|mpg|gb|"
    r"mb|GB|MB|KB|kb|Hz|MHz|GHz|mW|kW|MW|kWh|MWh|yrs?|yo"
)
SUFFIXES_OF_FILES = (
    "com|org|net|edu|gov|mil|int|info|biz|co|uk|ca|au|de|fr|ru|jp|us|tv|io|eu|"
    "doc|docx|xls|xlsx|ppt|pdf|txt|jpe?g|gif|png|html?|php|asp|aspx|exe|zip|mp3|csv|rtf|wav|avi|"
    "url|xml|json|py|js"
)
# Words that stand behind an abbreviation mostly where a sentence begins.
STARTERS = _words("""
    The A An This That These Those He She It We They You I In On At For From With But And So If As
    When While After Before Since What Why How Who Where There Here Please Thanks Thank My Our His
    Her Their Its Your Not No Yes All Some Any Do Does Did Is Are Was Were Can Could Will Would Then
    However Also Let Just Now To By Because Although Though Once One Both Each Many Most
""")

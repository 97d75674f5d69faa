// Pages that one starts with come before those that one looks things up in.
const FIRST = /^(tutorial|from-text|annotating|tours\/|howto\/|index)/;
const LAST = /^(model-format|contributing|changes|reference\/names\/)/;
var Scorer = {
  score: ([docname, , , , score]) => score + (FIRST.test(docname) ? 12 : LAST.test(docname) ? -8 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

package main

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/surprise"
)

// surprising is what goes against expectation within a suite, or between two.
type surprising struct {
	Cells []string `json:"of"`
	Words string   `json:"words"`
}

// withSurprises are a page's surprises after suites of it were measured: those of these suites are new, and
// what was said of others alone stays, though their documents may be gone.
func (p page) withSurprises(published []surprising, measured []*report.Suite) []surprising {
	surprises := slices.DeleteFunc(append([]surprising{}, published...), func(s surprising) bool {
		return slices.ContainsFunc(measured, func(m *report.Suite) bool { return slices.Contains(s.Cells, m.Name) })
	})
	for i, s := range measured {
		surprises = append(surprises, surprisesWithin(s)...)
		for _, peer := range measured[i+1:] {
			surprises = append(surprises, between(s, peer)...)
		}
	}
	slices.SortStableFunc(surprises, func(a, b surprising) int {
		return cmp.Or(cmp.Compare(slices.Index(p.labels, a.Cells[0]), slices.Index(p.labels, b.Cells[0])),
			cmp.Compare(len(a.Cells), len(b.Cells)))
	})
	return surprises
}

func surprisesWithin(s *report.Suite) (surprises []surprising) {
	for _, found := range surprise.Find(s) {
		surprises = append(surprises, surprising{[]string{s.Name}, found.Words})
	}
	return surprises
}

// between are the surprises that neither of two suites has by itself.
func between(a, b *report.Suite) (surprises []surprising) {
	single := append(surprisesWithin(a), surprisesWithin(b)...)
	for _, found := range surprise.Find(a, b) {
		if !slices.ContainsFunc(single, func(s surprising) bool { return s.Words == found.Words }) {
			surprises = append(surprises, surprising{[]string{a.Name, b.Name}, found.Words})
		}
	}
	return surprises
}

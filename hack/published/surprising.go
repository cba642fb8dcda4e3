package main

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/surprise"
)

// surprising is what goes against expectation within a suite, or between two.
type surprising struct {
	Of    []string `json:"of"`
	Words string   `json:"words"`
}

// withSurprises are a page's surprises after suites of it were measured: those of these suites are new, and what was said of others alone stays, though their documents may be gone.
func (p page) withSurprises(were []surprising, measured []*report.Suite) []surprising {
	all := slices.DeleteFunc(append([]surprising{}, were...), func(s surprising) bool {
		return slices.ContainsFunc(measured, func(m *report.Suite) bool { return slices.Contains(s.Of, m.Name) })
	})
	for i, s := range measured {
		all = append(all, within(s)...)
		for _, other := range measured[i+1:] {
			all = append(all, between(s, other)...)
		}
	}
	slices.SortStableFunc(all, func(a, b surprising) int {
		return cmp.Or(cmp.Compare(slices.Index(p.of, a.Of[0]), slices.Index(p.of, b.Of[0])), cmp.Compare(len(a.Of), len(b.Of)))
	})
	return all
}

func within(s *report.Suite) (all []surprising) {
	for _, found := range surprise.Find(s) {
		all = append(all, surprising{[]string{s.Name}, found.Words})
	}
	return all
}

// between are the surprises that neither of two suites has by itself.
func between(a, b *report.Suite) (all []surprising) {
	alone := append(within(a), within(b)...)
	for _, found := range surprise.Find(a, b) {
		if !slices.ContainsFunc(alone, func(s surprising) bool { return s.Words == found.Words }) {
			all = append(all, surprising{[]string{a.Name, b.Name}, found.Words})
		}
	}
	return all
}

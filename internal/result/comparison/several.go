package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Holm withdraws claims that several Answers, as of a criterion's directions, make only because they are several.
// That any of them Failed by chance is to be as improbable as for one. The least of k chances must be at most 2.5 %
// / k, the next 2.5 % / (k − 1), and so on (Holm's procedure). A withdrawn claim is Undecided, for the reason
// OneOfSeveral. That all of them Passed needs no such care, because a wrong one would have to pass by chance.
func Holm(answers []Answer) []Answer {
	sorted, order := slices.Clone(answers), make([]int, len(answers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(sorted[a].Chance.Failed,
			sorted[b].Chance.Failed)
	})
	holds := true
	for k, i := range order {
		remaining := len(sorted) - k
		if holds = holds && sorted[i].Chance.Failed*float64(remaining) <= worstTail; !holds &&
			sorted[i].Outcome == report.DidFail {
			sorted[i].Outcome, sorted[i].Reason = report.Undecided, OneOfSeveral
			sorted[i].Sentence += fmt.Sprintf("; by itself this would be shown, but among %d comparisons one shows as much by chance too often: more runs would decide", len(sorted))
		}
	}
	return sorted
}

// OneOfSeveral is the Reason where one comparison alone would show that the candidate has less than is allowed.
const OneOfSeveral Reason = "OneOfSeveral"

// ChanceOfAny is the probability with which chance alone would make any of the Answers show so much less, as a
// report keeps it, rounded up. It is 0 for none.
func ChanceOfAny(answers []Answer) units.Ratio {
	if len(answers) == 0 {
		return 0
	}
	lowest := slices.MinFunc(answers, func(a,
		b Answer) int {
		return cmp.Compare(a.Chance.Failed, b.Chance.Failed)
	}).Chance.Failed
	share := min(1, lowest*float64(len(answers)))
	return min(units.One, max(1, units.Ratio(math.Ceil(share*float64(units.One)))))
}

package goals

import (
	"cmp"
	"slices"
)

// class is what trials at one load show of a target.
type class int

const (
	undecided class = iota
	lower           // the load holds
	upper           // it doesn't
)

// targetStats adds up the trials at one load, as one target counts them. A trial is long if it was to last as long as
// the target's trials. A trial weighs what it took, in seconds.
type targetStats struct {
	goodLong, badLong   float64
	goodShort, badShort float64
	good, bad           int     // long trials
	shortGood, shortBad int     // short ones
	margins             margins // may decide the load before the sum does
	decided             class   // ends the count
}

// add counts a trial. A stopped trial counts only for targets whose loss ratio the trial had exceeded by then. Where
// margins may decide, trials after the decision don't count, since the chance of a wrong class is computed for that.
func (y *targetStats) add(t target, trial Trial) {
	bad := trial.LossRatio > t.loss
	if y.decided != undecided || trial.Stopped && !bad {
		return
	}
	took := trial.Took.Seconds()
	long := trial.Duration >= t.trial
	if long && t.early && y.good+y.bad == 0 {
		y.margins, _ = quorumOf(t.sum, t.exceed, took).margins()
	}
	switch {
	case long && bad:
		y.badLong += took
		y.bad++
	case long:
		y.goodLong += took
		y.good++
	case bad:
		y.badShort += took
		y.shortBad++
	default:
		y.goodShort += took
		y.shortGood++
	}
	if !t.early {
		return
	}
	y.decided = y.bySum(t)
	if y.decided == undecided && y.margins.good > 0 {
		y.decided = y.margins.classify(y.good, y.bad)
	}
}

func (y *targetStats) class(t target) class {
	if t.early {
		return y.decided
	}
	return y.bySum(t)
}

// bySum is RFC 9971's classification. It compares the result if all that is missing of the sum were good (at best) with
// the result if all were bad (at worst).
func (y *targetStats) bySum(t target) class {
	bad, whole := y.effective(t)
	atBest, atWorst := bad <= whole*t.exceed, whole-y.goodLong <= whole*t.exceed
	switch {
	case atBest && atWorst:
		return lower
	case !atBest && !atWorst:
		return upper
	}
	return undecided
}

// effective is the effective sum of bad trials, and the sum that it is a part of. Bad short trials count as far as good
// short trials don't balance them. Good short trials show nothing.
func (y *targetStats) effective(t target) (bad, whole float64) {
	bad = y.badLong + max(0, y.badShort-y.goodShort*t.exceed/(1-t.exceed))
	return bad, max(y.goodLong+bad, t.sum)
}

// forwarded is the share of frames that were forwarded in the worst of the long trials that count, where the target's
// exceed ratio of trials may be worse. With missing, the rest of the target's sum counts as lost entirely.
func forwarded(t target, trials []Trial, missing bool) float64 {
	long := slices.DeleteFunc(slices.Clone(trials), func(trial Trial) bool { return trial.Duration < t.trial })
	slices.SortStableFunc(long, compareLoss)
	var whole float64
	for _, trial := range long {
		whole += trial.Took.Seconds()
	}
	if missing {
		whole = max(whole, t.sum)
	}
	remaining, loss := whole*(1-t.exceed), 1.0
	for i, trial := range long {
		if i > 0 && remaining <= 0 || trial.Stopped {
			break
		}
		loss = trial.LossRatio
		remaining -= trial.Took.Seconds()
		if missing && i == len(long)-1 && remaining > 0 {
			loss = 1
		}
	}
	return 1 - loss
}

// compareLoss orders trials by loss. Stopped trials, whose loss is known as a minimum only, come behind all others.
func compareLoss(a, b Trial) int {
	switch {
	case a.Stopped == b.Stopped:
		return cmp.Compare(a.LossRatio, b.LossRatio)
	case a.Stopped:
		return 1
	}
	return -1
}

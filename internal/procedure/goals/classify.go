package goals

import "slices"

// A class is what trials at one load show of a target.
type class int

const (
	undecided class = iota
	lower           // the load holds
	upper           // it doesn't
)

// A tally adds up the trials at one load, as one target counts them. A trial is long if it was asked to last as long as the target's trials, and weighs what it took, in seconds.
type tally struct {
	goodLong, badLong   float64
	goodShort, badShort float64
	good, bad           int   // long trials
	shortGood, shortBad int   // short ones
	lead                lead  // what may decide the load before the sum does, by how long its first long trial took
	decided             class // which ends the count
}

// add counts a trial. One that was stopped shows only that it was bad for those whose ratio it had exceeded by then. Where a lead may decide, nothing counts that comes after: that is what the chance of a wrong class is computed for.
func (y *tally) add(t target, trial Trial) {
	bad := trial.LossRatio > t.loss
	if y.decided != undecided || trial.Stopped && !bad {
		return
	}
	took := trial.Took.Seconds()
	long := trial.Duration >= t.trial
	if long && t.early && y.good+y.bad == 0 {
		y.lead, _ = raceOf(t.sum, t.exceed, took).lead()
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
	if y.decided == undecided && y.lead.good > 0 {
		y.decided = y.lead.wins(y.good, y.bad)
	}
}

func (y *tally) class(t target) class {
	if t.early {
		return y.decided
	}
	return y.bySum(t)
}

// bySum is RFC 9971's classification: whether the load would hold if all that is missing of the sum were good (at best), and if all were bad (at worst).
func (y *tally) bySum(t target) class {
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

// effective is how much bad time counts, of how much. Bad short trials count as far as good short ones don't make up for them, good short ones show nothing.
func (y *tally) effective(t target) (bad, whole float64) {
	bad = y.badLong + max(0, y.badShort-y.goodShort*t.exceed/(1-t.exceed))
	return bad, max(y.goodLong+bad, t.sum)
}

// forwarded is the share of frames that came through in those of the long trials that were no worse than the share of them that a target may exceed; the lower loss in a tie. missing is whether the rest of the target's sum counts as lost entirely.
func forwarded(t target, trials []Trial, missing bool) float64 {
	long := slices.DeleteFunc(slices.Clone(trials), func(trial Trial) bool { return trial.Duration < t.trial })
	slices.SortStableFunc(long, func(a, b Trial) int { return compareLoss(a, b) })
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

// compareLoss orders trials by loss, and those that were stopped, of which only the least is known, behind all others.
func compareLoss(a, b Trial) int {
	switch {
	case a.Stopped != b.Stopped && b.Stopped:
		return -1
	case a.Stopped != b.Stopped:
		return 1
	case a.LossRatio < b.LossRatio:
		return -1
	case a.LossRatio > b.LossRatio:
		return 1
	}
	return 0
}

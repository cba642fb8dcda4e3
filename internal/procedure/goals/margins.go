package goals

import "math"

// margins are by how much good or bad trials must be ahead to decide a load before the sum does. Sequential decides a
// load as soon as one of these holds, and leaves the other loads to the sum, as RFC9971 does:
//
//	the load holds         once  good ≥ margins.good + 3 × bad
//	the load doesn't hold  once  bad  ≥ margins.bad  + 2 × good
//
// The margins are the smallest whose rate of wrong classes exceeds the plain sum's by at most tolerance, however often
// a load's trials are bad, as long as trials are independent of each other. TestMarginsAreTheSmallest computes them
// anew.
type margins struct{ good, bad int }

const (
	goodPerBad = 3
	badPerGood = 2
	tolerance  = 0.0025 // how much more often, of all loads
)

// marginsByTrials are the margins of goals with an exceed ratio of one half, by how many trials the sum takes at most.
// Fewer trials than the first entry's are too few for margins. Of more trials than the last entry's, the sum decides
// alone.
var marginsByTrials = [...]margins{
	9: {4, 4}, 10: {4, 5},
	11: {4, 4}, 12: {4, 5}, 13: {5, 5}, 14: {4, 5}, 15: {5, 5}, 16: {5, 6}, 17: {5, 5}, 18: {5, 6}, 19: {5, 5},
	20: {5, 6},
	21: {6, 6}, 22: {5, 6}, 23: {6, 6}, 24: {5, 6}, 25: {6, 6}, 26: {5, 6}, 27: {6, 6}, 28: {6, 7}, 29: {6, 6},
	30: {6, 7},
	31: {6, 6}, 32: {6, 7}, 33: {6, 6}, 34: {6, 7}, 35: {6, 7}, 36: {6, 7}, 37: {6, 7}, 38: {6, 7}, 39: {6, 7},
	40: {6, 7},
	41: {6, 7}, 42: {6, 7}, 43: {7, 7}, 44: {6, 7}, 45: {7, 7}, 46: {6, 7}, 47: {7, 7}, 48: {6, 7}, 49: {7, 7},
	50: {6, 7},
	51: {7, 7}, 52: {6, 7}, 53: {7, 7}, 54: {6, 7}, 55: {7, 7}, 56: {7, 8}, 57: {7, 7}, 58: {7, 8}, 59: {7, 8},
	60: {7, 8},
}

// quorum is how many long trials of one kind alone decide a load by the sum, if all trials take equally long.
type quorum struct{ good, bad int }

// quorumOf is the quorum of a duration sum, in seconds, of which the share exceed may be bad.
func quorumOf(sum, exceed, took float64) quorum {
	const mostTrials = 400 // beyond, more of them say no more
	took = max(took, sum/mostTrials)
	return quorum{max(1, int(math.Ceil(sum*(1-exceed)/took))), int(math.Floor(sum*exceed/took)) + 1}
}

// margins are the early margins of the quorum. False means that the sum decides alone.
func (r quorum) margins() (margins, bool) {
	limit := r.good + r.bad - 1
	if limit >= len(marginsByTrials) || marginsByTrials[limit].good == 0 {
		return margins{}, false
	}
	return marginsByTrials[limit], true
}

// classify is the class by the margins after some trials.
func (l margins) classify(good, bad int) class {
	switch {
	case good >= l.good+goodPerBad*bad:
		return lower
	case bad >= l.bad+badPerGood*good:
		return upper
	}
	return undecided
}

// chanceOfLower is the chance that good trials reach the quorum first, and how many trials that takes on average, if
// each trial is bad with a probability, independently of the others. early may decide sooner.
func (r quorum) chanceOfLower(bad float64, early func(good, bad int) class) (chance, trials float64) {
	// The chance to come by so many good trials (columns) and bad ones (rows), undecided.
	row := make([]float64, r.good)
	row[0] = 1
	for b := range r.bad {
		nextRow := make([]float64, r.good)
		for g := range r.good {
			trials += row[g]
			if next := row[g] * (1 - bad); g+1 == r.good || early(g+1, b) == lower {
				chance += next
			} else {
				row[g+1] += next
			}
			if b+1 < r.bad && early(g, b+1) == undecided {
				nextRow[g] = row[g] * bad
			}
		}
		row = nextRow
	}
	return chance, trials
}

func noEarlyEnd(int, int) class { return undecided }

// chanceOfWrongClass is the chance that a load is put on the wrong side.
func (r quorum) chanceOfWrongClass(bad, exceed float64, early func(good, bad int) class) float64 {
	chance, _ := r.chanceOfLower(bad, early)
	if bad <= exceed {
		return 1 - chance
	}
	return chance
}

// wrongClass is the chance of a wrong class at a target's loads, at its worst of two probabilities, if trials took as
// long as the first trial that was long enough.
func (s *search) wrongClass(t target) float64 {
	for _, trial := range s.trials {
		if trial.Duration < t.trial {
			continue
		}
		r, early := quorumOf(t.sum, t.exceed, trial.Took.Seconds()), noEarlyEnd
		if m, ok := r.margins(); ok && t.early {
			early = m.classify
		}
		return max(r.chanceOfWrongClass(0.2, t.exceed, early), r.chanceOfWrongClass(0.8, t.exceed, early))
	}
	return math.NaN()
}

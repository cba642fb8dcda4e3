package datapath

import (
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// followed is what the stamps of a stream's frames show. It says whether all frames came, once and in
// order, and with which latencies. The counting program keeps one for each flow id in a map (kernel/follow.h
// describes the members). record does in Go what the program does, and tests compare the two.
//
// One bit for each recent sequence number says whether the frame came. The bits stand in words of 64.
//
//	words    │ … │ 64 … 127 │ 128 … 191 │ 192 … 255 │
//	                  └ window: recentWords, the newest sequence's included ┘▲ next
//
// So a duplicate and a late frame can be distinguished while their word is in the window,
// at least 961 frames back. An older frame is stale, because it may be either.
type followed = countFollowed

const (
	runKnown    = uint32(countSharedRUN_KNOWN)
	recentWords = uint32(countSharedRECENT_WORDS)
)

// record records one frame by its stamp, its length on the wire and its latency.
func (f *followed) record(s stamp, length int64, took time.Duration) {
	if run := uint32(s.generation) | runKnown; f.Run != run {
		f.Run, f.Next, f.Timed, f.Recent = run, 0, 0, [countSharedRECENT_WORDS]uint64{}
	}
	f.order(s.sequence)
	f.time(uint64(took), uint64(length))
}

func (f *followed) order(sequence uint32) {
	switch ahead := int32(sequence - f.Next); {
	case ahead > maxSequenceJump:
		f.TooHigh++
		f.restartWindow(sequence)
	case ahead >= 0:
		f.Lost += uint64(ahead)
		f.advance(sequence)
	case ahead < -maxSequenceJump:
		f.TooLow++
		f.restartWindow(sequence)
	default:
		f.judgeLate(sequence)
	}
}

// advance clears the words that enter the window.
func (f *followed) advance(sequence uint32) {
	highest := f.Next - 1
	entered := (sequence - highest&^63) >> 6
	for i := range min(entered, recentWords) {
		f.Recent[(highest>>6+1+i)%recentWords] = 0
	}
	f.Next = sequence + 1
	f.markReceived(sequence)
}

func (f *followed) judgeLate(sequence uint32) {
	switch word, bit := recentBit(sequence); {
	case ((f.Next-1)|63-sequence)>>6 >= recentWords:
		f.Stale++
	case f.Recent[word]&bit != 0:
		f.Duplicates++
	default:
		f.Reordered++
		f.Lost -= min(f.Lost, 1)
		f.markReceived(sequence)
	}
}

func (f *followed) restartWindow(sequence uint32) {
	f.Recent, f.Next = [countSharedRECENT_WORDS]uint64{}, sequence+1
	f.markReceived(sequence)
}

func (f *followed) markReceived(sequence uint32) {
	word, bit := recentBit(sequence)
	f.Recent[word] |= bit
}

func recentBit(sequence uint32) (word int, bit uint64) {
	return int(sequence >> 6 % recentWords), 1 << (sequence & 63)
}

// time adds a transit time. Jitter is RFC 3550's, in the whole numbers of its appendix A.8.
func (f *followed) time(took, length uint64) {
	if f.Received == 0 {
		f.Shortest = took
	}
	f.Received, f.Bytes = f.Received+1, f.Bytes+length
	f.Shortest, f.Longest, f.Sum = min(f.Shortest, took), max(f.Longest, took), f.Sum+took
	if f.Timed != 0 {
		change := max(took, f.Last) - min(took, f.Last)
		f.Varied, f.Changes = f.Varied+change, f.Changes+1
		f.Jitter = f.Jitter - f.Jitter>>4 + change
	}
	f.Timed, f.Last = 1, took
}

// latency returns the state as Port.Latency reports it. TRex's coarse histogram is made of the fine one.
func (f *followed) latency(h transit.Histogram) Latency {
	l := Latency{Received: int64(f.Received), Min: time.Duration(f.Shortest), Max: time.Duration(f.Longest),
		Latest: time.Duration(f.Last), Jitter: time.Duration(f.Jitter >> 4),
		Dropped: int64(f.Lost - min(f.Merged, f.Lost)), OutOfOrder: int64(f.Reordered), Duplicate: int64(f.Duplicates),
		Stale: int64(f.Stale), Merged: int64(f.Merged), Uncounted: int64(f.Uncounted), Varied: time.Duration(f.Varied),
		Changes: int64(f.Changes), SequenceTooHigh: int64(f.TooHigh), SequenceTooLow: int64(f.TooLow),
		Histogram: map[time.Duration]int64{}}
	if f.Received > 0 {
		l.Average = time.Duration(f.Sum / f.Received)
	}
	for i, frames := range h.All() {
		shortest, _ := transit.Bounds(i)
		l.Histogram[bound(bucket(shortest))] += int64(min(frames, math.MaxInt64))
	}
	return l
}

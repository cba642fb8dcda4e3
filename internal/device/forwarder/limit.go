package forwarder

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// limitTraffic puts the limit on each direction and, with MACRewrite, the rewriting rules.
func limitTraffic(spec Spec, info *Info) error {
	if err := addRules(spec, info); err != nil {
		return err
	}
	if spec.Limit == nil || spec.Limit.Layer2BitsPerSecond == 0 {
		return nil
	}
	for _, d := range spec.Directions {
		if err := shape(d.To, *spec.Limit); err != nil {
			return fmt.Errorf("limit %s to %s: %w", d.From, d.To, err)
		}
		info.applied("limit %s to %s: %d layer-2 bits/s with FCS, burst %s, token bucket at %s", d.From, d.To,
			spec.Limit.Layer2BitsPerSecond, spec.Limit.Depth(), d.To)
	}
	return nil
}

// burstPackets is the limit's burst in whole packets, at least one, as a bucket that holds less than a packet
// never lets one through.
func burstPackets(l plan.Limit) uint32 {
	return uint32(max(1, min(atRate(l.PacketsPerSecond, l.Depth()), 1<<31)))
}

// burstBytes is the limit's burst in bytes, at least the largest frame, as a bucket that holds less never lets
// one through.
func burstBytes(l plan.Limit, largestFrame int) uint32 {
	return uint32(max(int64(largestFrame), min(atRate(l.Layer2BitsPerSecond/8, l.Depth()), 1<<31)))
}

// queueBytes is how many bytes may wait at the limit, at least the largest frame.
func queueBytes(l plan.Limit, largestFrame int) uint32 {
	return uint32(max(int64(largestFrame), min(atRate(l.Layer2BitsPerSecond/8, l.Queue.Std()), 1<<31)))
}

// atRate is how much comes in d at a rate per second, rounded to nearest, without overflow.
func atRate(perSecond int64, d time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(perSecond), uint64(d))
	lo, carry := bits.Add64(lo, uint64(time.Second)/2, 0)
	hi += carry
	if hi >= uint64(time.Second) {
		return 1 << 62
	}
	q, _ := bits.Div64(hi, lo, uint64(time.Second))
	return int64(min(q, 1<<62))
}

// ErrUnsupported is the error of a limit or mode that this kernel can't have.
var ErrUnsupported = errors.New("not supported by this kernel")

// explain adds what the kernel lacks to an error that means that the kernel doesn't know a feature.
func explain(err error, feature, option string) error {
	for _, unknown := range []error{unix.EOPNOTSUPP, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT, unix.ENOENT,
		fs.ErrNotExist} {
		if errors.Is(err, unknown) {
			return fmt.Errorf("%w: %s (%s; load its module, or use a Reference without limit): %w", ErrUnsupported,
				feature, option, err)
		}
	}
	return err
}

package forwarder

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

func TestBurst(t *testing.T) {
	for _, c := range []struct {
		limit   plan.Limit
		packets uint32
		bytes   uint32
	}{
		{plan.Limit{PacketsPerSecond: 10_000, Burst: plan.Duration(10 * time.Millisecond)}, 100, 1522},
		{plan.Limit{PacketsPerSecond: 2_000, Burst: plan.Duration(time.Microsecond)}, 1, 1522},
		{plan.Limit{PacketsPerSecond: 10_000}, 100, 1522}, // none stated: 10 ms
		{plan.Limit{Layer2BitsPerSecond: 80_000_000, Burst: plan.Duration(10 * time.Millisecond)}, 1, 100_000},
		{plan.Limit{Layer2BitsPerSecond: math.MaxInt64, Burst: math.MaxInt64}, 1, 1 << 31},
	} {
		if got := burstPackets(c.limit); got != c.packets {
			t.Errorf("%+v: %d packets, want %d", c.limit, got, c.packets)
		}
		if got := burstBytes(c.limit, 1522); got != c.bytes {
			t.Errorf("%+v: %d bytes, want %d", c.limit, got, c.bytes)
		}
	}
}

func TestAtRateIsTheExactProductToNearest(t *testing.T) {
	exact := func(perSecond uint32, d uint32) bool {
		want := new(big.Int).Mul(big.NewInt(int64(perSecond)), big.NewInt(int64(d)))
		want.Add(want, big.NewInt(int64(time.Second)/2)).Div(want, big.NewInt(int64(time.Second)))
		return atRate(int64(perSecond), time.Duration(d)) == want.Int64()
	}
	if err := quick.Check(exact, nil); err != nil {
		t.Error(err)
	}
}

func TestAKernelWithoutTheLimitIsNamedWithTheWayOut(t *testing.T) {
	err := explain(fmt.Errorf("token bucket: %w", unix.ENOENT), "token bucket queue", "CONFIG_NET_SCH_TBF")
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(),
		"not supported by this kernel: token bucket queue (CONFIG_NET_SCH_TBF; load its module, or use a Reference "+
			"without limit)") {
		t.Errorf("got %v", err)
	}
	if got := explain(unix.EPERM, "x", "y"); !errors.Is(got, unix.EPERM) || errors.Is(got, ErrUnsupported) {
		t.Errorf("a missing permission is explained as %v", got)
	}
}

package datapath

import (
	"testing"

	"github.com/vishvananda/netlink"
)

func TestTheKernelsCountersAreKeptApart(t *testing.T) {
	first := netlink.LinkStatistics{RxMissedErrors: 1, RxFifoErrors: 2, RxDropped: 3, RxCrcErrors: 4, RxLengthErrors: 5,
		RxFrameErrors: 6, TxDropped: 7, TxErrors: 8, RxErrors: 100}
	second := netlink.LinkStatistics{RxMissedErrors: 11, RxFifoErrors: 22, RxDropped: 33, RxCrcErrors: 44,
		RxLengthErrors: 55, RxFrameErrors: 66, TxDropped: 77, TxErrors: 88, RxErrors: 900}
	want := kernelCounts{missed: 30, dropped: 30, damaged: 150, unsent: 150}
	got := countsBetween(first, second)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if reversed := countsBetween(second, first).atLeast(got); reversed != want {
		t.Errorf("counters that went back: %+v", reversed)
	}
}

func TestOnlyLateDropsAreSendDrops(t *testing.T) {
	for name, tt := range map[string]struct {
		driver          string
		unsent, refused int64
		want            int64
	}{
		"a card dropped them and said nothing":             {"ice", 9, 0, 9},
		"a card that said so, and they were never counted": {"ice", 9, 9, 0},
		"some of each":                                     {"ice", 9, 4, 5},
		"it refused before it counted":                     {"ice", 2, 4, 0},
		"at a virtual cable's far end there is the device": {"veth", 9, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &port{}
			p.nic.Driver = tt.driver
			if got := p.sendDrops(kernelCounts{unsent: tt.unsent}, tt.refused); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
			if got := p.sendDrops(kernelCounts{unsent: tt.unsent}, tt.unsent); got != tt.want {
				t.Errorf("when all of them were said to be refused it went from %d to %d", tt.want, got)
			}
		})
	}
}

package forwarder

import (
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// LimitCounters is what a direction's limit counted since it was set up. Frames that the machine lost before or
// behind the limit are in neither.
type LimitCounters struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Passed  int64  `json:"passed"`  // frames that it let through
	Dropped int64  `json:"dropped"` // frames over the limit
}

// ReadLimitCounters reads what the limit of each direction counted, in the order of the spec's directions.
// Without a limit there is nothing. The namespace is the one that was configured. Nil is the caller's own.
func ReadLimitCounters(ns *netif.Namespace, spec Spec) ([]LimitCounters, error) {
	if spec.Limit == nil {
		return nil, nil
	}
	var counters []LimitCounters
	err := ns.Do(func() (err error) {
		counters, err = readLimitCounters(spec)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what the limit counted: %w", err)
	}
	return counters, nil
}

func readLimitCounters(spec Spec) ([]LimitCounters, error) {
	read := countersOfShaper
	if spec.Limit.PacketsPerSecond > 0 {
		conn, err := nftables.New()
		if err != nil {
			return nil, fmt.Errorf("open nftables: %w", err)
		}
		read = func(t *LimitCounters) error { return countersOfRules(conn, t) }
	}
	var counters []LimitCounters
	for _, d := range spec.Directions {
		t := LimitCounters{From: d.From, To: d.To}
		if err := read(&t); err != nil {
			return nil, fmt.Errorf("%s to %s: %w", d.From, d.To, err)
		}
		counters = append(counters, t)
	}
	return counters, nil
}

// countersOfRules reads the two counters of a source link's chain. The first one counts what was dropped, the
// second what passed.
func countersOfRules(conn *nftables.Conn, t *LimitCounters) error {
	table := &nftables.Table{Family: nftables.TableFamilyNetdev, Name: tableName}
	rules, err := conn.GetRules(table, &nftables.Chain{Table: table, Name: "from-" + t.From})
	if err != nil {
		return fmt.Errorf("list its rules: %w", err)
	}
	var counted []int64
	for _, r := range rules {
		for _, e := range r.Exprs {
			if c, ok := e.(*expr.Counter); ok {
				counted = append(counted, int64(c.Packets))
			}
		}
	}
	if len(counted) != 2 {
		return fmt.Errorf("its rules have %d counters, not 2: another program changed them", len(counted))
	}
	t.Dropped, t.Passed = counted[0], counted[1]
	return nil
}

// countersOfShaper reads the statistics of a destination link's token bucket queue.
func countersOfShaper(t *LimitCounters) error {
	link, err := netif.Find(t.To)
	if err != nil {
		return err
	}
	queues, err := netlink.QdiscList(link)
	if err != nil {
		return fmt.Errorf("list its queues: %w", err)
	}
	for _, q := range queues {
		if s := q.Attrs().Statistics; q.Attrs().Parent == netlink.HANDLE_ROOT && q.Type() == "tbf" && s != nil &&
			s.Basic != nil && s.Queue != nil {
			t.Passed, t.Dropped = int64(s.Basic.Packets), int64(s.Queue.Drops)
			return nil
		}
	}
	return errors.New("its token bucket queue is not there: another program removed it")
}

package impaired

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// kernelPort carries what enters a port by rules of the kernel (nftables, at netdev's ingress), in the thread that
// sends the frame. So it is faster than a process, and never late. It has only what such rules can do exactly:
//
//	came ─▶ one in N lost ─▶ limit ─▶ one in N twice ─▶ left
type kernelPort struct {
	conn  *nftables.Conn
	chain *nftables.Chain
	// rules are the counters' names, in the order of the rules.
	rules []string
}

// errInKernel says what a device in the kernel can't have.
var errInKernel = errors.New("a device in the kernel loses or doubles one in N, has a limit that saves, and keeps " +
	"no record: leave the rest out, or inKernel")

// inKernel says whether rules of the kernel can do all of it.
func (i Impairment) inKernel() bool {
	return i == Impairment{LoseOneIn: i.LoseOneIn, Limit: i.Limit, Saves: i.Saves, DuplicateOneIn: i.DuplicateOneIn}
}

func newKernelPort(i Impairment, name string, target int) (*kernelPort, error) {
	conn, err := nftables.New(nftables.WithNetNSFd(namespaceFile))
	if err != nil {
		return nil, fmt.Errorf("open nftables: %w", err)
	}
	k := &kernelPort{conn: conn}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: "impaired-" + name})
	k.chain = conn.AddChain(&nftables.Chain{Table: table, Name: "entered", Device: name, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter})
	drop := &expr.Verdict{Kind: expr.VerdictDrop}
	k.add("came")
	if i.LoseOneIn > 0 {
		k.add("chosen", append(oneIn(i.LoseOneIn), &expr.Counter{}, drop)...)
	}
	if i.Limit > 0 {
		saves := i.Saves
		if saves == 0 {
			saves = defaultSaves
		}
		bucket := max(1, i.Limit*int64(saves)/int64(time.Second))
		k.add("overload", &expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(i.Limit), Unit: expr.LimitTimeSecond,
			Burst: uint32(bucket), Over: true}, &expr.Counter{}, drop)
	}
	if i.DuplicateOneIn > 0 {
		k.add("doubled", append(append(oneIn(i.DuplicateOneIn), &expr.Counter{}), send(target)...)...)
	}
	k.add("left", append(append([]expr.Any{&expr.Counter{}}, send(target)...), drop)...)
	if err := conn.Flush(); err != nil {
		return nil, fmt.Errorf("install nftables rules: %w", err)
	}
	return k, nil
}

// add puts a rule behind the others. Without expressions the rule counts all frames.
func (k *kernelPort) add(name string, expressions ...expr.Any) {
	if expressions == nil {
		expressions = []expr.Any{&expr.Counter{}}
	}
	k.conn.AddRule(&nftables.Rule{Table: k.chain.Table, Chain: k.chain, Exprs: expressions})
	k.rules = append(k.rules, name)
}

// oneIn matches the Nth frame, the 2 Nth and so on.
func oneIn(n int64) []expr.Any {
	return []expr.Any{
		// The number of the first frame is 0.
		&expr.Numgen{Register: unix.NFT_REG_1, Modulus: uint32(n), Type: unix.NFT_NG_INCREMENTAL},
		&expr.Cmp{Op: expr.CmpOpEq, Register: unix.NFT_REG_1, Data: binaryutil.NativeEndian.PutUint32(uint32(n - 1))},
	}
}

// send puts a copy of the frame, without payload of its own, out of an interface.
func send(target int) []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: unix.NFT_REG_1, Data: binaryutil.NativeEndian.PutUint32(uint32(target))},
		&expr.Dup{RegDev: unix.NFT_REG_1, IsRegDevSet: true},
	}
}

// counts may be asked by one goroutine at a time.
func (k *kernelPort) counts() (n Counts, err error) {
	rules, err := k.conn.GetRules(k.chain.Table, k.chain)
	if err != nil || len(rules) != len(k.rules) {
		return n, fmt.Errorf("read the counters of %d rules: there are %d: %w", len(k.rules), len(rules), err)
	}
	counters := map[string]*int64{"came": &n.Came, "chosen": &n.Chosen, "overload": &n.Overload, "doubled": &n.Doubled,
		"left": &n.Departed}
	for i, rule := range rules {
		for _, e := range rule.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				*counters[k.rules[i]] = int64(counter.Packets)
			}
		}
	}
	n.Departed += n.Doubled
	n.Inside = n.Came - n.Lost() - n.Departed + n.Doubled
	return n, nil
}

// empty is always true, as a frame has left when the sender's call returns.
func (k *kernelPort) empty() bool { return true }

// residence is empty, as the kernel doesn't report it.
func (k *kernelPort) residence() (map[int]map[int]uint64, int64) { return nil, 0 }

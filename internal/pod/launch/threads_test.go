package launch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNoTwoThreadsShareACPU is a property: whatever CPUs the pod has and wherever its NICs are, each thread
// gets a CPU of the pod's, no CPU gets two, and no pair's thread is far from its NIC while a CPU near it is
// idle.
func TestNoTwoThreadsShareACPU(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		cpus := randomCPUs(random)
		pairs := 1 + random.IntN(3)
		nodes := make([]int, pairs)
		for i := range nodes {
			nodes[i] = random.IntN(3) - 1
		}
		cores := (len(cpus) - housekeeping) / pairs
		if cores < 1 {
			continue
		}
		cores = 1 + random.IntN(cores)
		if err := misplaced(place(cpus, nodes, cores), cpus, nodes, cores); err != nil {
			t.Fatalf("seed %d, CPUs %v, NICs on %v, %d cores: %v", seed, cpus, nodes, cores, err)
		}
	}
}

func randomCPUs(random *rand.Rand) []CPU {
	var cpus []CPU
	for id := range 24 {
		if random.IntN(2) == 0 {
			cpus = append(cpus, CPU{ID: id, Node: id / 4 % 2, Core: id % 12})
		}
	}
	return cpus
}

func misplaced(threads *Threads, cpus []CPU, nodes []int, cores int) error {
	used := map[int]bool{}
	ids := []int{threads.Master, threads.Latency}
	for p, pair := range threads.Pairs {
		if len(pair.CPUs) != cores {
			return fmt.Errorf("pair %d has %v", p, pair.CPUs)
		}
		ids = append(ids, pair.CPUs...)
	}
	for _, id := range ids {
		if used[id] || !slices.ContainsFunc(cpus, func(c CPU) bool { return c.ID == id }) {
			return fmt.Errorf("CPU %d is used twice, or isn't the pod's", id)
		}
		used[id] = true
	}
	for p, pair := range threads.Pairs {
		for _, id := range pair.CPUs {
			local := nodes[p] < 0 || nodeOf(cpus, id) == nodes[p]
			idle := slices.ContainsFunc(cpus, func(c CPU) bool { return c.Node == nodes[p] && !used[c.ID] })
			if !local && idle {
				return fmt.Errorf("pair %d uses CPU %d, far from its NIC, while a near one is idle", p, id)
			}
		}
	}
	return nil
}

func TestMemoryIsWhereTheMasterRuns(t *testing.T) {
	far := []CPU{{ID: 0, Node: 1, Core: 0}, {ID: 1, Node: 1, Core: 1}, {ID: 2, Node: 1, Core: 2},
		{ID: 3, Node: 1, Core: 3}}
	cpus := append(slices.Clone(far), CPU{ID: 4, Node: 0, Core: 4}, CPU{ID: 5, Node: 0, Core: 5})
	for _, c := range []struct {
		name  string
		kind  Kind
		cpus  []CPU
		nodes []int
		want  int
	}{
		{"beside the NIC where the pod has a CPU there", VFIO, cpus, []int{0}, 0},
		{"beside the threads where it has none", VFIO, far, []int{0}, 1},
		{"beside the threads where the NIC's node isn't known", VFIO, far, []int{-1}, 1},
		{"on one node, whatever nodes the NICs are on", VFIO, cpus, []int{1, 0}, 1},
		{"on node 0, if it is plain memory", Kernel, far, []int{1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			threads := place(c.cpus, c.nodes, 1)
			threads.settleSockets(c.kind, c.cpus)
			for _, p := range threads.Pairs {
				if p.Socket != c.want || c.kind != Kernel && p.Socket != nodeOf(c.cpus, threads.Master) {
					t.Errorf("node %d, want %d; the master is on CPU %d", p.Socket, c.want, threads.Master)
				}
			}
		})
	}
}

func TestFewerCPUsThanThreadsNearTheNIC(t *testing.T) {
	pod := intelPod().cgroupV2("0-4,8-12", "4294967296", "4294967296")
	config, faults := Decide(pod.observe(), Options{Links: links(t, "west=lab/sriov-west", "east=lab/sriov-east"),
		Cores: 4})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := len(config.Notices); got != 2 || config.Notices[0].Code != CrossNUMA {
		t.Errorf("notices %v, want one for each link", config.Notices)
	}
	got := config.Threads.Pairs[0]
	if cpus := append([]int{config.Threads.Master}, got.CPUs...); got.Socket != 1 || !slices.Contains(cpus, 4) ||
		!slices.Contains(cpus, 12) {
		t.Errorf("threads %+v, with the master on %d, don't use what there is near the NIC", got, config.Threads.Master)
	}
}

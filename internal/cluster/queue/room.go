package queue

import (
	"cmp"
	"maps"
	"slices"
)

// maxSteps is at how many nodes a search for places looks at most. That is far more than real tests need, and a
// millisecond's work.
const maxSteps = 20_000

// room is what is free on each node.
type room []Devices

// search looks for a node for each of some pods.
type search struct {
	room room
	pods []Devices
	// nodeOf has the node of each pod that was placed.
	nodeOf    []int
	stepsLeft int
}

// reserve takes the devices of pods from the room, those of one pod from one node, and says whether each pod
// finds a node. If one doesn't, nothing is taken. A search that takes too long counts as successful, and takes
// nothing. The scheduler is left to try.
func (r room) reserve(pods []Devices) bool {
	s := search{room: r, pods: pods, nodeOf: make([]int, len(pods)), stepsLeft: maxSteps}
	return s.place(0) || s.stepsLeft == 0
}

// release gives back what was taken, as take took it.
func (s *search) release() {
	for k, n := range s.nodeOf {
		s.room[n].add(s.pods[k], 1)
	}
}

// place places the pods from number k on. If that is impossible, it changes nothing.
func (s *search) place(k int) bool {
	if k == len(s.pods) {
		return true
	}
	first := 0
	if k > 0 && maps.Equal(s.pods[k], s.pods[k-1]) {
		first = s.nodeOf[k-1] // equal pods needn't be tried in each other's places
	}
	for n := first; n < len(s.room) && s.stepsLeft > 0; n++ {
		if s.stepsLeft--; s.room[n].lacks(s.pods[k]) != "" {
			continue
		}
		s.nodeOf[k] = n
		s.room[n].add(s.pods[k], -1)
		if s.place(k + 1) {
			return true
		}
		s.room[n].add(s.pods[k], 1)
	}
	return false
}

// largestFirst is what each pod without a node wants, the largest first, which has the fewest nodes to choose from, and
// equal ones side by side.
func largestFirst(pods []Pod) []Devices {
	var wanted []Devices
	for _, p := range pods {
		if p.Node == "" && len(p.Devices) > 0 {
			wanted = append(wanted, p.Devices)
		}
	}
	if len(wanted) > 1 {
		slices.SortStableFunc(wanted, func(a, b Devices) int {
			return cmp.Or(cmp.Compare(b.sum(), a.sum()), cmp.Compare(a.String(), b.String()))
		})
	}
	return wanted
}

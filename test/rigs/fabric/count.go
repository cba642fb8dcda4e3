package fabric

import (
	"fmt"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// End is where a function is plugged into its wire. A function that is lost and comes back has another one.
type End struct {
	Wire, Function string
	Index          int
}

// Entered counts, for each end, the frames that have entered the wire there since the end was plugged in.
func (s Spec) Entered() (map[End]uint64, error) {
	wires := map[string]string{}
	for _, p := range s.ports() {
		for _, d := range p.devices {
			wires[d.Interface] = p.wire
		}
	}
	entered := map[End]uint64{}
	err := vf.InNamespace(s.path(), func() error {
		links, err := vf.Links()
		if err != nil {
			return fmt.Errorf("count frames: %w", err)
		}
		for _, l := range links {
			if wire, ours := wires[l.Attrs().Name]; ours && l.Attrs().Statistics != nil {
				entered[End{wire, l.Attrs().Name, l.Attrs().Index}] = l.Attrs().Statistics.RxPackets
			}
		}
		return nil
	})
	return entered, err
}

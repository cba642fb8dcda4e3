package cni

import "github.com/linerate-dev/linerate/test/rigs/fabric/vf"

// Plugged says whether a function exists, at home or in a pod. It waits for an ADD or DEL that is under way, in
// which one may be gone for a moment.
func (n Node) Plugged(d vf.Device) (bool, error) {
	unlock, err := n.records.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	return d.Plugged()
}

// Mend plugs a function that is lost, as its pod's namespace ended without a DEL.
func (n Node) Mend(d vf.Device) error {
	unlock, err := n.records.lock()
	if err != nil {
		return err
	}
	defer unlock()
	plugged, err := d.Plugged()
	if err != nil || plugged {
		return err
	}
	return d.Plug()
}

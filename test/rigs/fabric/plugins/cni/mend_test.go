package cni_test

import (
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/cni"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func TestMend(t *testing.T) {
	t.Run("a function that was lost with its pod's namespace is at home again, and free for the next pod",
		func(t *testing.T) {
			n := newNode(t)
			n.mustAdd(n.pod("one"), first)
			plugin, d := cni.NodeAt(n.state), n.device(first)
			n.inside(func() error {
				if err := d.Unplug(); err != nil { // as the end of the pod's namespace does
					return err
				}
				if plugged, err := plugin.Plugged(d); err != nil || plugged {
					t.Errorf("plugged: %v %v", plugged, err)
				}
				return plugin.Mend(d)
			})
			if !n.home(first) {
				t.Error("it isn't at home")
			}
			n.mustAdd(n.pod("two"), first)
		})
	t.Run("a function that is in a pod stays there", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		n.mustAdd(pod, first)
		n.inside(func() error { return cni.NodeAt(n.state).Mend(n.device(first)) })
		if pod.link(t, "net1").Alias != first {
			t.Error("the pod lost it")
		}
	})
	t.Run("in a namespace that isn't the node's it says so, and does nothing", func(t *testing.T) {
		n := newNode(t)
		err := vf.InNamespace(n.pod("one").namespace, func() error { return cni.NodeAt(n.state).Mend(n.device(first)) })
		if err == nil {
			t.Error("no error")
		} else {
			t.Log(err)
		}
	})
}

package vf_test

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric/fabrictest"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func TestLinks(t *testing.T) {
	t.Run("are listed while others come and go", func(t *testing.T) {
		namespace := fabrictest.Namespace(t)
		if err := vf.InNamespace(namespace, manyCables); err != nil {
			t.Fatal(err)
		}
		stop, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- vf.InNamespace(namespace, func() error { return comeAndGo(stop) }) }()
		err := vf.InNamespace(namespace, func() error {
			for range 100 {
				links, err := vf.Links()
				if err != nil {
					return err
				}
				if len(links) == 0 || links[0].Attrs().Name != "lo" {
					t.Fatalf("a list without lo: %v", links)
				}
			}
			return nil
		})
		close(stop)
		if err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// manyCables are more than fit into one answer of the kernel, as a list can change only between answers.
func manyCables() error {
	for i := range 100 {
		veth := netlink.NewVeth(netlink.LinkAttrs{Name: fmt.Sprint("a", i)})
		veth.PeerName = fmt.Sprint("b", i)
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
	}
	return nil
}

// comeAndGo makes and removes cables until stop.
func comeAndGo(stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		veth := netlink.NewVeth(netlink.LinkAttrs{Name: "come"})
		veth.PeerName = "go"
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		if err := netlink.LinkDel(veth); err != nil {
			return err
		}
	}
}

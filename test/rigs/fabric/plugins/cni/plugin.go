package cni

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// Plugin is the verbs, for skel. They run in the node's network namespace, as runtimes start plugins.
func Plugin() skel.CNIFuncs { return skel.CNIFuncs{Add: add, Check: check, Del: del} }

func add(args *skel.CmdArgs) error {
	config, err := ParseConfig(args.StdinData)
	if err != nil {
		return err
	}
	wish, err := config.Wish()
	if err != nil {
		return err
	}
	result, err := config.node().Attach(attachmentOf(args), wish)
	if err != nil {
		return fmt.Errorf("network %s: %w", config.Name, err)
	}
	return types.PrintResult(result, config.CNIVersion)
}

func del(args *skel.CmdArgs) error {
	config, err := ParseConfig(args.StdinData)
	if err != nil {
		return err
	}
	if err := config.node().Detach(attachmentOf(args)); err != nil {
		return fmt.Errorf("network %s: %w", config.Name, err)
	}
	return nil
}

func check(args *skel.CmdArgs) error {
	config, err := ParseConfig(args.StdinData)
	if err != nil {
		return err
	}
	result, err := config.previous()
	if err != nil {
		return err
	}
	if err := config.node().Check(attachmentOf(args), result); err != nil {
		return fmt.Errorf("network %s: %w", config.Name, err)
	}
	return nil
}

// previous is what ADD answered, which the runtime remembers for CHECK.
func (c Config) previous() (*current.Result, error) {
	if c.RawPrevResult == nil {
		return nil, fmt.Errorf("network %s: CHECK came without prevResult", c.Name)
	}
	if err := version.ParsePrevResult(&c.PluginConf); err != nil {
		return nil, fmt.Errorf("network %s: prevResult: %w", c.Name, err)
	}
	return current.NewResultFromResult(c.PrevResult)
}

func (c Config) node() Node {
	return Node{inventory: filepath.Join(c.StateDir, vf.InventoryFile),
		records: records{filepath.Join(c.StateDir, "attachments")}}
}

func attachmentOf(args *skel.CmdArgs) Attachment {
	return Attachment{Container: args.ContainerID, Interface: args.IfName, Namespace: args.Netns}
}

// Node is where the plugin runs, with its devices, and their holders.
type Node struct {
	inventory string
	records   records
}

// NodeAt is the node whose state is in a directory.
func NodeAt(stateDir string) Node { return Config{StateDir: stateDir}.node() }

func (n Node) device(id string) (vf.Device, error) {
	inventory, err := vf.Load(n.inventory)
	if err != nil {
		return vf.Device{}, err
	}
	d, ok := inventory.Find(id)
	if !ok {
		return vf.Device{}, fmt.Errorf("device %s isn't in this node's inventory %s", id, n.inventory)
	}
	return d, nil
}

// Attach gives the device to the container. Where that can't be completed the device is at home again.
func (n Node) Attach(a Attachment, w Wish) (*current.Result, error) {
	unlock, err := n.records.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	d, err := n.device(w.DeviceID)
	if err == nil {
		err = n.claim(a, d)
	}
	if err != nil {
		return nil, err
	}
	mac, err := handOver(d, a, w)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("give device %s to the pod: %w", d.ID, err), n.release(a, d))
	}
	return resultOf(a, w, d, mac), nil
}

// claim records the device as the attachment's, and ensures that it is at home, unless somebody else holds it.
// Kubelet may think a device free while the last pod that had it is still being taken down. An error makes kubelet
// try again with a new sandbox.
func (n Node) claim(a Attachment, d vf.Device) error {
	plugged, err := d.Plugged()
	if err != nil {
		return err
	}
	home, err := d.Home()
	if err != nil {
		return err
	}
	holder, recorded, err := n.records.holder(d.ID)
	if err != nil {
		return err
	}
	if recorded {
		if plugged && !home && holder.Attachment != a && holder.alive() {
			return fmt.Errorf("device %s is still in use, as %s of container %s", d.ID, holder.Interface,
				holder.Container)
		}
		if err := n.records.forget(holder.Attachment); err != nil {
			return err
		}
	}
	if !plugged || !home {
		if err := d.Replug(); err != nil {
			return err
		}
	}
	return n.records.save(record{Attachment: a, Device: d.ID})
}

func (n Node) release(a Attachment, d vf.Device) error {
	if err := d.Replug(); err != nil {
		return fmt.Errorf("bring device %s home: %w", d.ID, err)
	}
	return n.records.forget(a)
}

// Detach brings the attachment's device home, from wherever it is. An attachment that isn't recorded is none,
// and no error.
func (n Node) Detach(a Attachment) error {
	unlock, err := n.records.lock()
	if err != nil {
		return err
	}
	defer unlock()
	rec, ok, err := n.records.load(a)
	if err != nil || !ok {
		return err
	}
	d, err := n.device(rec.Device)
	if err != nil {
		return err
	}
	return n.release(a, d)
}

package vf_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func inventory(change func(*vf.Device)) vf.Inventory {
	device := func(n string) vf.Device {
		return vf.Device{
			ID: "0000:03:02." + n, Interface: "westp0v" + n, PF: "0000:03:00.0", NUMA: -1, MAC: "02:00:00:00:00:0" + n,
			MTU:  1500,
			Wire: vf.Wire{Bridge: "west", Namespace: 7},
		}
	}
	first, second := device("0"), device("1")
	if change != nil {
		change(&second)
	}
	return vf.Inventory{Resources: []vf.Resource{{Name: "linerate.dev/sriov-west", Devices: []vf.Device{first,
		second}}}}
}

func TestInventory(t *testing.T) {
	t.Run("what is saved is loaded", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "state", vf.InventoryFile)
		want := inventory(nil)
		if err := want.Save(file); err != nil {
			t.Fatal(err)
		}
		got, err := vf.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a device is found by its ID", func(t *testing.T) {
		d, ok := inventory(nil).Find("0000:03:02.1")
		if _, wrong := inventory(nil).Find("0000:03:02.7"); !ok || d.Interface != "westp0v1" || wrong {
			t.Errorf("found %+v %v, and one that isn't there: %v", d, ok, wrong)
		}
	})
}

func TestInventoryRefuses(t *testing.T) {
	for want, change := range map[string]func(*vf.Device){
		`device "0": id`:                    func(d *vf.Device) { d.ID = "0" },
		`pf ""`:                             func(d *vf.Device) { d.PF = "" },
		`interface "a-very-long-interface"`: func(d *vf.Device) { d.Interface = "a-very-long-interface" },
		`wire.bridge ""`:                    func(d *vf.Device) { d.Wire.Bridge = "" },
		`numa -2`:                           func(d *vf.Device) { d.NUMA = -2 },
		`mtu 0`:                             func(d *vf.Device) { d.MTU = 0 },
		`wire.namespace -1`:                 func(d *vf.Device) { d.Wire.Namespace = -1 },
		`mac "01:00:00:00:00:01"`:           func(d *vf.Device) { d.MAC = "01:00:00:00:00:01" },
		`both have 0000:03:02.0`:            func(d *vf.Device) { d.ID = "0000:03:02.0" },
		`both have westp0v0`:                func(d *vf.Device) { d.Interface = "westp0v0" },
		`both have 02:00:00:00:00:00`:       func(d *vf.Device) { d.MAC = "02:00:00:00:00:00" },
	} {
		t.Run(want, func(t *testing.T) {
			if err := inventory(change).Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("an unknown field", func(t *testing.T) {
		if _, err := vf.Parse([]byte(`{"resources":[],"resource":1}`)); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a resource twice, or without a vendor", func(t *testing.T) {
		twice := inventory(nil)
		twice.Resources = append(twice.Resources, vf.Resource{Name: twice.Resources[0].Name})
		bare := vf.Inventory{Resources: []vf.Resource{{Name: "west"}}}
		if twice.Check() == nil || bare.Check() == nil {
			t.Error("no error")
		}
	})
}

package deviceplugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// environment is what a container with devices finds, PCIDEVICE_VENDOR_DEV_NAME=ID,ID, and the same with _INFO in
// JSON.
func environment(resource string, ids []string) (map[string]string, error) {
	name := "PCIDEVICE_" + strings.ToUpper(strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(resource))
	info := map[string]map[string]map[string]string{}
	for _, id := range ids {
		info[id] = map[string]map[string]string{"generic": {"deviceID": id}}
	}
	text, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("%s_INFO: %w", name, err)
	}
	return map[string]string{name: strings.Join(ids, ","), name + "_INFO": string(text)}, nil
}

// deviceInfo is the Device Information Specification's document for a PCI device.
type deviceInfo struct {
	Type    string `json:"type"`
	Version string `json:"version"`
	PCI     struct {
		Address   string `json:"pci-address"`
		PFAddress string `json:"pf-pci-address,omitempty"`
	} `json:"pci"`
}

// devInfoFile is where Multus looks for a device's information. Its name is made of the resource's and the ID, with -
// for /.
func (o Options) devInfoFile(resource, id string) string {
	return filepath.Join(o.DevInfoDir, strings.ReplaceAll(resource+"-"+id, "/", "-")+"-device.json")
}

// writeInfo writes the device's information.
func (o Options) writeInfo(resource string, d vf.Device) error {
	info := deviceInfo{Type: "pci", Version: "1.1.0"}
	info.PCI.Address = d.ID
	if d.SharesPort {
		info.PCI.PFAddress = d.PF
	}
	text, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("device-info of %s: %w", d.ID, err)
	}
	if err := os.MkdirAll(o.DevInfoDir, 0o755); err != nil {
		return fmt.Errorf("device-info of %s: %w", d.ID, err)
	}
	return vf.WriteFile(o.devInfoFile(resource, d.ID), text)
}

// removeInfo takes all information away that we may have left.
func (o Options) removeInfo() error {
	var errs []error
	for _, r := range o.Inventory.Resources {
		for _, d := range r.Devices {
			if err := os.Remove(o.devInfoFile(r.Name, d.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("device-info of %s: %w", d.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Linerate-pci-plugin is a device plugin that offers kubelet this machine's SR-IOV virtual functions, see package
// pci. It reads the configuration of the SR-IOV network device plugin, and runs until it gets SIGTERM or SIGINT.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/deviceplugin"
	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/pci"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

const sysfs = "/sys"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "linerate-pci-plugin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	file := flag.String("config-file", "/etc/pcidp/config.json", "the SR-IOV network device plugin's configuration")
	flag.Parse()
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	inventory, err := pci.Inventory(sysfs, text)
	if err != nil {
		return err
	}
	return deviceplugin.Run(ctx, deviceplugin.Options{
		Inventory: inventory,
		Plugged: func(d vf.Device) (bool, error) {
			_, err := os.Stat(filepath.Join(sysfs, "bus/pci/devices", d.ID))
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return err == nil, err
		},
		Files: func(d vf.Device) ([]string, error) { return pci.Files(sysfs, d.ID) },
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

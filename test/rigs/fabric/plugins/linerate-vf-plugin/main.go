// Linerate-vf-plugin is a device plugin that offers kubelet virtual functions made of veths, see package fabric. It
// runs in a node's network and mount namespaces until it gets SIGTERM or SIGINT.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/cni"
	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/deviceplugin"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "linerate-vf-plugin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	state := flag.String("state-dir", vf.StateDir, "directory of the node's inventory and the CNI plugin's records")
	sockets := flag.String("socket-dir", "", "kubelet's directory for device plugins, if it isn't the usual one")
	mend := flag.Bool("mend", true, "make functions again that were lost with their pod's namespace")
	flag.Parse()
	inventory, err := vf.Load(filepath.Join(*state, vf.InventoryFile))
	if err != nil {
		return err
	}
	node := cni.NodeAt(*state)
	o := deviceplugin.Options{Inventory: inventory, Plugged: node.Plugged, SocketDir: *sockets,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if *mend {
		o.Mend = node.Mend
	}
	return deviceplugin.Run(ctx, o)
}

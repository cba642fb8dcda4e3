package deviceplugin

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// DevInfoDir is where device plugins leave what Multus is to know of devices, as the Device Information Specification says.
const DevInfoDir = "/var/run/k8s.cni.cncf.io/devinfo/dp"

// Options are what the plugin needs to know. The zero value of each is good, but for Inventory and Plugged.
type Options struct {
	Inventory vf.Inventory
	// Plugged says whether a function exists.
	Plugged func(vf.Device) (bool, error)
	// Mend plugs a lost function. nil: it stays unhealthy until somebody else does.
	Mend func(vf.Device) error
	// SocketDir is kubelet's; "": /var/lib/kubelet/device-plugins.
	SocketDir string
	// DevInfoDir is where the device-info files go; "": the constant.
	DevInfoDir string
	// Interval is how often functions and kubelet's socket are looked at; 0: 1 s.
	Interval time.Duration
	// Log has a line for each change; nil: none.
	Log *slog.Logger
}

func (o Options) defaults() Options {
	if o.SocketDir == "" {
		o.SocketDir = pluginapi.DevicePluginPath
	}
	if o.DevInfoDir == "" {
		o.DevInfoDir = DevInfoDir
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Run offers all resources until the context ends, whether kubelet is there or comes, goes and comes again. It then takes its sockets and
// device-info files away.
func Run(ctx context.Context, o Options) error {
	if err := o.Inventory.Check(); err != nil {
		return err
	}
	if o.Plugged == nil {
		return errors.New("device plugin: Options.Plugged is missing")
	}
	o = o.defaults()
	var wait sync.WaitGroup
	for _, r := range o.Inventory.Resources {
		wait.Go(func() { newPool(r, o).run(ctx) })
	}
	wait.Wait()
	return o.forget()
}

// run looks after one resource: at each tick at its devices, and at the way to kubelet.
func (p *pool) run(ctx context.Context) {
	way := way{pool: p}
	defer way.close()
	tick := time.NewTicker(p.options.Interval)
	defer tick.Stop()
	said := ""
	for {
		p.look()
		if err := way.see(ctx); err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error() // once, and not at each tick
			p.log.Info("no way to kubelet", "error", said)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

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

// DevInfoDir is where device plugins leave what Multus is to know of devices, as the Device Information
// Specification says.
const DevInfoDir = "/var/run/k8s.cni.cncf.io/devinfo/dp"

// Options are what the plugin needs to know. The zero value of each is good, but for Inventory and Plugged.
type Options struct {
	Inventory vf.Inventory
	// Plugged says whether a function exists.
	Plugged func(vf.Device) (bool, error)
	// Files are what a container with the function needs of /dev. With nil that is nothing.
	Files func(vf.Device) ([]string, error)
	// Mend plugs a lost function. With nil it stays unhealthy until somebody else does.
	Mend func(vf.Device) error
	// SocketDir is kubelet's. "" means /var/lib/kubelet/device-plugins.
	SocketDir string
	// DevInfoDir is where the device-info files go. "" means the constant.
	DevInfoDir string
	// Interval is how often functions and kubelet's socket are checked. 0 means 1 s.
	Interval time.Duration
	// Log has a line for each change. nil logs nothing.
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

// Run offers all resources until the context ends, whether kubelet is there or comes, goes and comes again. It
// then takes its sockets and device-info files away.
func Run(ctx context.Context, o Options) error {
	if err := o.Inventory.CheckResources(); err != nil {
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
	return o.removeInfo()
}

// run serves one resource. At each tick it checks the resource's devices, and the registration with kubelet.
func (p *pool) run(ctx context.Context) {
	endpoint := registration{pool: p}
	defer endpoint.close()
	tick := time.NewTicker(p.options.Interval)
	defer tick.Stop()
	logged := ""
	for {
		p.checkDevices()
		if err := endpoint.ensure(ctx); err != nil && ctx.Err() == nil && err.Error() != logged {
			logged = err.Error() // once, and not at each tick
			p.log.Info("no way to kubelet", "error", logged)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

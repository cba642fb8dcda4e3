package deviceplugin

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"google.golang.org/grpc"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// pool is a resource's devices and their health, and what kubelet asks about them. It is safe for concurrent use.
type pool struct {
	pluginapi.UnimplementedDevicePluginServer
	resource vf.Resource
	options  Options
	log      *slog.Logger

	mu      sync.Mutex
	healthy map[string]bool
	changed chan struct{} // closed at the next change
}

func newPool(r vf.Resource, o Options) *pool {
	return &pool{resource: r, options: o, log: o.Log.With("resource", r.Name), healthy: map[string]bool{},
		changed: make(chan struct{})}
}

// checkDevices finds out which devices exist, reports changes to kubelet, and mends lost devices, which become
// healthy at the next check.
func (p *pool) checkDevices() {
	health := map[string]bool{}
	var lost []vf.Device
	for _, d := range p.resource.Devices {
		plugged, err := p.options.Plugged(d)
		if err != nil {
			p.log.Error("look at device", "device", d.ID, "error", err)
		}
		health[d.ID] = plugged
		if !plugged && err == nil {
			lost = append(lost, d)
		}
	}
	p.update(health)
	if p.options.Mend == nil {
		return
	}
	for _, d := range lost {
		if err := p.options.Mend(d); err != nil {
			p.log.Error("mend device", "device", d.ID, "error", err)
		}
	}
}

func (p *pool) update(health map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	unchanged := true
	for id, healthy := range health {
		if earlier, ok := p.healthy[id]; !ok || earlier != healthy {
			unchanged = false
			p.log.Info("device", "device", id, "healthy", healthy)
		}
	}
	if unchanged {
		return
	}
	p.healthy = health
	close(p.changed)
	p.changed = make(chan struct{})
}

// list is the devices as they are, and a channel that is closed when that is no longer true.
func (p *pool) list() (*pluginapi.ListAndWatchResponse, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var devices []*pluginapi.Device
	for _, d := range p.resource.Devices {
		devices = append(devices, deviceOf(d, p.healthy[d.ID]))
	}
	return &pluginapi.ListAndWatchResponse{Devices: devices}, p.changed
}

func deviceOf(d vf.Device, healthy bool) *pluginapi.Device {
	device := &pluginapi.Device{ID: d.ID, Health: pluginapi.Unhealthy}
	if healthy {
		device.Health = pluginapi.Healthy
	}
	if d.NUMA >= 0 {
		device.Topology = &pluginapi.TopologyInfo{Nodes: []*pluginapi.NUMANode{{ID: int64(d.NUMA)}}}
	}
	return device
}

// GetDevicePluginOptions asks kubelet for nothing special.
func (p *pool) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

// ListAndWatch reports the devices to kubelet now and at each change, until kubelet goes.
func (p *pool) ListAndWatch(_ *pluginapi.Empty,
	stream grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	for {
		devices, changed := p.list()
		if err := stream.Send(devices); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// Allocate says what containers get with devices, and leaves their device-info for Multus, which comes next.
func (p *pool) Allocate(_ context.Context, request *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	response := &pluginapi.AllocateResponse{}
	for _, container := range request.GetContainerRequests() {
		allocated, err := p.allocate(container.GetDevicesIds())
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", p.resource.Name, err)
		}
		response.ContainerResponses = append(response.ContainerResponses, allocated)
		p.log.Info("allocated", "devices", container.GetDevicesIds())
	}
	return response, nil
}

func (p *pool) allocate(ids []string) (*pluginapi.ContainerAllocateResponse, error) {
	inventory := vf.Inventory{Resources: []vf.Resource{p.resource}}
	var files []*pluginapi.DeviceSpec
	for _, id := range ids {
		d, ok := inventory.Find(id)
		if !ok {
			return nil, fmt.Errorf("there is no device %s", id)
		}
		if err := p.options.writeInfo(p.resource.Name, d); err != nil {
			return nil, err
		}
		if p.options.Files == nil {
			continue
		}
		paths, err := p.options.Files(d)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			files = append(files, &pluginapi.DeviceSpec{HostPath: path, ContainerPath: path, Permissions: "rw"})
		}
	}
	envs, err := environment(p.resource.Name, ids)
	if err != nil {
		return nil, err
	}
	return &pluginapi.ContainerAllocateResponse{Envs: envs, Devices: files}, nil
}

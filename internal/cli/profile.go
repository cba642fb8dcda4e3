package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/profile"
)

// errNoDeviceHere is that a profile is asked for of a device that isn't on this machine.
var errNoDeviceHere = errors.New("procedure.profile: the device is not on this machine, whose processors are " +
	"sampled: run linerate where the device is, or remove profile")

// checkProfile refuses a profile of a device that isn't on this machine: one that is cabled to real interfaces.
func checkProfile(p *plan.Plan, kind lab.Kind, ports []string) error {
	if !p.Procedure.Profile || kind != lab.Device {
		return nil
	}
	if virtual, err := lab.AllVirtualCables(ports); err != nil {
		return fmt.Errorf("procedure.profile: %w", err)
	} else if !virtual {
		return errNoDeviceHere
	}
	return nil
}

// sampleDevice begins to sample all of the machine's processors. The generator's processes are this one and
// the watched one.
func sampleDevice(watch machine.Watch) (stop func() (report.Profile, error), err error) {
	processors, err := machine.AllProcessors()
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(processors))
	for i, p := range processors {
		numbers[i] = p.Number
	}
	sampler, err := profile.Start(numbers)
	if err != nil {
		return nil, err
	}
	return func() (report.Profile, error) {
		sampled, err := sampler.Stop(func(pid int) profile.Owner {
			switch {
			case watch.Device != nil && watch.Device(pid):
				return profile.Device
			case pid == os.Getpid(), pid == watch.Generator:
				return profile.Generator
			}
			return profile.Stranger
		})
		return profileDocument(sampled), err
	}, nil
}

func profileDocument(p profile.Profile) report.Profile {
	d := report.Profile{Processors: p.Processors, SamplesPerSecond: profile.Hertz, Duration: plan.Duration(p.Duration),
		Samples: p.Samples, Idle: p.Idle, Generator: p.Generator, Others: p.Strangers, Lost: p.Lost}
	for _, s := range p.Stacks {
		d.Stacks = append(d.Stacks, s.String())
	}
	for _, f := range p.Programs {
		d.Programs = append(d.Programs, report.ProfiledProgram{Path: f.Path, Build: f.Build})
	}
	return d
}

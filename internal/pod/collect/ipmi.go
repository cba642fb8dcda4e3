package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// ipmi is a management controller that speaks IPMI 2.0 over the network (RMCP+). The program ipmitool asks it, since
// it knows controllers' peculiarities, and a library for the same has 65 000 lines. The password is in no argument:
// ipmitool reads the Secret's file.
type ipmi struct {
	sensor  plan.IPMISensor
	secret  secret
	command []string
}

// ipmitool is the program.
const ipmitool = "ipmitool"

func newIPMI(o plan.IPMISensor, s secret) (source, error) {
	values, err := s.values(keyUser, keyPassword)
	if err != nil {
		return nil, err
	}
	if values[keyUser] == "" || values[keyPassword] == "" {
		return nil, fmt.Errorf("secret %s needs the keys %s and %s", s.name, keyUser, keyPassword)
	}
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", o.Address, err)
	}
	if _, err := exec.LookPath(ipmitool); err != nil {
		return nil, fmt.Errorf("IPMI is asked by the program %s, which isn't installed here: install it (apt-get install "+
			"ipmitool), or use an observer of type Redfish", ipmitool)
	}
	command := []string{ipmitool, "-I", "lanplus", "-H", host, "-p", port, "-U", values[keyUser], "-f",
		filepath.Join(s.folder, keyPassword), "-L", "USER", "-N", "2", "-R", "2", "-c"}
	if o.Sensor == "" {
		return ipmi{o, s, append(command, "dcmi", "power", "reading")}, nil
	}
	return ipmi{o, s, append(command, "sensor", "reading", o.Sensor)}, nil
}

// instantaneous is the line of the power in what ipmitool prints.
var instantaneous = regexp.MustCompile(`(?m)^\s*Instantaneous power reading\s*:\s*([0-9]+) Watts`)

func (i ipmi) ask(ctx context.Context) (reading, error) {
	stdout, _, err := bounded.Output(ctx, i.command, nil, answerTime, mostPrinted)
	if err != nil {
		return reading{}, i.refused(err)
	}
	name, text := "power", ""
	if i.sensor.Sensor != "" {
		name = i.sensor.Sensor
		text = string(stdout[strings.LastIndexByte(strings.TrimSpace(string(stdout)), ',')+1:])
	} else if found := instantaneous.FindSubmatch(stdout); found != nil {
		text = string(found[1])
	}
	number, err := numberIn(text)
	if err != nil {
		return reading{}, fmt.Errorf("%s has no reading: %w", name, err)
	}
	return reading{numbers: []observe.Number{{Name: "value", Unit: i.sensor.Unit, Kind: report.Gauge,
		Value: number}}}, nil
}

// refused is why ipmitool failed, without its arguments.
func (i ipmi) refused(err error) error {
	words := err.Error()
	_, last, said := strings.Cut(words, "; its last words: ")
	switch {
	case strings.Contains(words, "RAKP 2") || strings.Contains(words, "unauthorized name"):
		return fmt.Errorf("it doesn't take what secret %s has", i.secret.name)
	case strings.Contains(words, "Unable to establish"):
		return errors.New("no session: it is unreachable, has IPMI over the network switched off, or doesn't take what " +
			"secret " + i.secret.name + " has")
	case strings.Contains(words, "not found"):
		return fmt.Errorf("it has no sensor %q: ipmitool sensor list shows their names", i.sensor.Sensor)
	case said:
		return errors.New(last)
	}
	return fmt.Errorf("%s did not end well", ipmitool)
}

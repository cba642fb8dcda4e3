package collect_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// pretendIPMI puts a program of the name ipmitool first that prints what ipmitool 1.8.19 prints, of a controller that knows
// user lab with the password in a file.
func pretendIPMI(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	const script = `#!/bin/sh
case "$*" in *hunter2*) echo "a password among the arguments" >&2; exit 1;; esac
while [ $# -gt 0 ]; do
	case $1 in -f) word=$(cat "$2"); shift;; -U) user=$2; shift;; sensor|dcmi) break;; esac
	shift
done
[ "$user/$word" = lab/hunter2 ] || { echo "Error: Unable to establish IPMI v2 / RMCP+ session" >&2; exit 1; }
case "$*" in
"dcmi power reading") printf '\n    Instantaneous power reading:                   112 Watts\n    Minimum during sampling period:                 90 Watts\n';;
"sensor reading CPU Temp") echo "CPU Temp,41.500";;
"sensor reading FAN 9") echo "FAN 9,na";;
*) echo 'Sensor "'"$3"'" not found!' >&2; exit 1;;
esac
`
	if err := os.WriteFile(filepath.Join(folder, "ipmitool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

func sensor(name, unit string) plan.Observer {
	return plan.Observer{IPMI: &plan.IPMISensor{Address: "192.0.2.1:623", Sensor: name, Unit: unit, Secret: "bmc"}}
}

func TestIPMIIsAskedByIpmitool(t *testing.T) {
	pretendIPMI(t)
	shown := secrets(t, map[string]string{"bmc/username": "lab", "bmc/password": "hunter2"})
	if n := number(t, answered(t, sensor("", "W"), shown), "value", ""); n.Value != 112 || n.Unit != "W" {
		t.Errorf("%+v", n)
	}
	if n := number(t, answered(t, sensor("CPU Temp", "°C"), shown), "value", ""); n.Value != 41.5 || n.Unit != "°C" {
		t.Errorf("%+v", n)
	}
	missing(t, answered(t, sensor("FAN 9", "rpm"), shown), `FAN 9 has no reading: it printed "na"`)
	missing(t, answered(t, sensor("FAN 1", "rpm"), shown), `it has no sensor "FAN 1"`)
	wrong := secrets(t, map[string]string{"bmc/username": "lab", "bmc/password": "other"})
	missing(t, answered(t, sensor("", "W"), wrong), "doesn't take what secret bmc has")
	missing(t, answered(t, sensor("", "W"), secrets(t, map[string]string{"bmc/username": "lab"})),
		"secret bmc needs the keys username and password")
	t.Setenv("PATH", t.TempDir())
	missing(t, answered(t, sensor("", "W"), shown), "isn't installed here")
}

package lab

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
)

// Reason says what kept a lab from being built, or ended it, and so whether the user, the machine's owner or
// linerate has to act.
type Reason string

// The reasons.
const (
	BadInput    Reason = "BadInput"    // the file or the flags ask for something impossible
	Permission  Reason = "Permission"  // this user lacks a right
	Unsupported Reason = "Unsupported" // this kernel lacks a feature
	Failed      Reason = "Failed"      // something else went wrong while building
	Died        Reason = "Died"        // the lab was running, and ended by itself
)

// Fault is why a lab couldn't be built, or ended by itself, in one sentence for a person, with the way out
// where there is one.
type Fault struct {
	Reason   Reason `json:"reason"`
	Sentence string `json:"sentence"`
}

// Error is the sentence.
func (f *Fault) Error() string { return f.Sentence }

func badInput(format string, args ...any) *Fault {
	return &Fault{BadInput, fmt.Sprintf(format, args...)}
}

// faultOf turns an error while building into a Fault.
func faultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	switch {
	case errors.Is(err, forwarder.ErrUnsupported):
		return &Fault{Unsupported, fmt.Sprintf("dut.reference.limit: %v", err)}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &Fault{Permission, fmt.Sprintf("the lab may not be built: %v (%s)", err, permissionHint())}
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPROTONOSUPPORT):
		return &Fault{Unsupported, fmt.Sprintf("this kernel can't build the lab: %v", err)}
	default:
		return &Fault{Failed, fmt.Sprintf("build the lab: %v", err)}
	}
}

// spawnFault explains why the child could not be started in namespaces of its own.
func spawnFault(err error, rootless bool) *Fault {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return &Fault{Permission, fmt.Sprintf("the kernel makes no more namespaces (user.max_user_namespaces = %s, "+
			"user.max_net_namespaces = %s): "+
			"raise them with sysctl, or run with sudo", sysctl("user/max_user_namespaces"),
			sysctl("user/max_net_namespaces"))}
	case errors.Is(err, unix.EPERM) && rootless:
		return &Fault{Permission, "an ordinary user may not make network namespaces here: " + permissionHint()}
	case errors.Is(err, unix.EPERM):
		return &Fault{Permission, "network namespaces may not be made here although CAP_SYS_ADMIN is held: a " +
			"container's seccomp profile forbids it; run outside the container, or with --privileged"}
	case errors.Is(err, unix.EINVAL):
		return &Fault{Unsupported, "this kernel has no network or user namespaces (CONFIG_NET_NS, CONFIG_USER_NS); " +
			"run with sudo, or on another kernel"}
	default:
		return &Fault{Failed, fmt.Sprintf("start the lab's process: %v", err)}
	}
}

// permissionHint names the setting that keeps an ordinary user from building a lab.
func permissionHint() string {
	switch {
	case sysctl("user/max_user_namespaces") == "0":
		return "user.max_user_namespaces is 0; run with sudo, or sysctl user.max_user_namespaces=1000"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		return "kernel.unprivileged_userns_clone is 0; run with sudo, or sysctl kernel.unprivileged_userns_clone=1"
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "kernel.apparmor_restrict_unprivileged_userns is 1; run with sudo, or sysctl " +
			"kernel.apparmor_restrict_unprivileged_userns=0"
	default:
		return "run with sudo; in a container, its seccomp profile or lack of CAP_SYS_ADMIN and CAP_NET_ADMIN " +
			"forbids it"
	}
}

// sysctl reads a setting. A setting that this kernel doesn't have reads as "not set".
func sysctl(path string) string {
	value, err := os.ReadFile("/proc/sys/" + path)
	if err != nil {
		return "not set"
	}
	return strings.TrimSpace(string(value))
}

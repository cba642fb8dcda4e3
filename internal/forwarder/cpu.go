package forwarder

// CPU says where the forwarding work is done. The zero value leaves it to the kernel: on the CPU of whoever sends.
type CPU struct{}

func placeWork(_ Spec, _ *Info) error { return nil }

package plan

// The environment variables in which the operator gives pods their tokens, and in which linerate's programs look for them.
const (
	CollectorTokenVariable = "LINERATE_COLLECT_TOKEN" // whoever shows it reads the collector's answers
	ResetTokenVariable     = "LINERATE_RESET_TOKEN"   // whoever shows it has the device reset
	TunnelTokenVariable    = "LINERATE_TUNNEL_TOKEN"  // the gateways of one tunnel recognize each other by it
)

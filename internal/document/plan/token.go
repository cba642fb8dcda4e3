package plan

// TunnelTokenVariable is the environment variable in which the operator gives the gateways of one tunnel the token
// by which they recognize each other.
const TunnelTokenVariable = "LINERATE_TUNNEL_TOKEN"

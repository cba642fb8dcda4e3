package lab

import (
	"encoding/binary"
	"fmt"

	"github.com/google/nftables"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// tableOwned is NFT_TABLE_F_OWNER (linux/netfilter/nf_tables.h). The table belongs to the netlink connection
// that made it, and the kernel removes it when the connection closes, as it does at the end of the process.
const tableOwned = 2

// ownedTable opens a connection to nftables that owns a table of this name. The nftables library knows no
// owner, so the table is made by a message of our own, on the library's connection, before the library uses it.
func ownedTable(name string) (*nftables.Conn, *nftables.Table, error) {
	table := &nftables.Table{Family: nftables.TableFamilyNetdev, Name: name}
	conn, err := nftables.New(nftables.AsLasting(),
		nftables.WithSockOptions(func(c *netlink.Conn) error { return createOwned(c, table) }))
	if err != nil {
		return nil, nil, fmt.Errorf("make an nftables table: %w", err)
	}
	return conn, table, nil
}

func createOwned(c *netlink.Conn, table *nftables.Table) error {
	attributes, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: unix.NFTA_TABLE_NAME, Data: []byte(table.Name + "\x00")},
		{Type: unix.NFTA_TABLE_FLAGS, Data: binary.BigEndian.AppendUint32(nil, tableOwned)},
	})
	if err != nil {
		return fmt.Errorf("encode the table: %w", err)
	}
	// nftables takes changes only between a begin and an end. Each has the 4 bytes of struct nfgenmsg first.
	batch := func(kind netlink.HeaderType) netlink.Message {
		return netlink.Message{Header: netlink.Header{Type: kind, Flags: netlink.Request},
			Data: []byte{0, unix.NFNETLINK_V0, 0, unix.NFNL_SUBSYS_NFTABLES}}
	}
	change := netlink.Message{
		Header: netlink.Header{
			Type:  unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWTABLE,
			Flags: netlink.Request | netlink.Acknowledge | netlink.Create | netlink.Excl,
		},
		Data: append([]byte{byte(table.Family), unix.NFNETLINK_V0, 0, 0}, attributes...),
	}
	if _, err := c.SendMessages([]netlink.Message{batch(unix.NFNL_MSG_BATCH_BEGIN), change,
		batch(unix.NFNL_MSG_BATCH_END)}); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if _, err := c.Receive(); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return nil
}

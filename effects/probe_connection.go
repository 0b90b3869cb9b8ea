package effects

import "net"

// patientConn is a connection whose failed write is told only when all that the peer has sent was
// read: a peer that refuses us says why before it closes the connection, in a TLS alert or in a
// response to a request that it has not read, and whether our writes fail before that is read is a
// matter of who is faster.
type patientConn struct {
	net.Conn
	unwritten error
}

// Write never fails; Read does, if the peer has not said anything.
func (c *patientConn) Write(p []byte) (int, error) {
	if c.unwritten == nil {
		_, c.unwritten = c.Conn.Write(p)
	}
	return len(p), nil
}

func (c *patientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.unwritten != nil {
		err = c.unwritten
	}
	return n, err
}

"""How the fleet's messages travel: ZeroMQ, one message a frame. The only I/O between its processes."""

"""The door for agents: the tools of the Model Context Protocol, each of which is one request of the HTTP door."""

"""The tools for whoever is not in the chat: over MCP, and as commands. The one way in is `calls.call`."""

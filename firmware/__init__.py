"""The appliance: camera, seat buttons and lamps, the journal, and the socket for the pages."""

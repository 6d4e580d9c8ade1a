"""The deployed system: what `sam build` made, deployed whole into an emulator that enforces IAM, and used over HTTP."""

"""Named, deliberate deviations of the embedded queue manager on the network. `deviations` collects them."""

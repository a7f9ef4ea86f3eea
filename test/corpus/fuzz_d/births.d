BEGIN { spawns = exits = 0 }
tick-1sec { printf("Spawns %d exits %d", spawns, exits); spawns = exits = 0 }

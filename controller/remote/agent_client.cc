#include "controller/remote/agent_client.h"

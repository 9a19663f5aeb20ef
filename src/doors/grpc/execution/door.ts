import type { Service } from '../../../grpc/service.ts'
import { noNetwork } from '../../../model/properties/network-grants.ts'
import {
  DEFAULT_EXECUTION_LIMITS,
  type ExecutionDoorOptions,
  type ExecutionTools,
} from '../../../services/execution/execution-tools.ts'
import { recentTreesOf } from '../../../services/execution/recent-trees.ts'
import { reportingFaults } from '../report-faults.ts'
import { execute, waitExecution } from './execute.ts'
import { operationsService } from './operations.ts'

/** Remote execution as build tools speak it, over the grid. */
export function executionDoor(options: ExecutionDoorOptions): Service[] {
  const { engine, instances, clock, limits, logStreams, grants = noNetwork } = options
  const tools: ExecutionTools = {
    engine,
    instances,
    clock,
    limits: { ...DEFAULT_EXECUTION_LIMITS, ...limits },
    logStreams,
    grants,
    recentTrees: recentTreesOf(clock),
  }
  const services: Service[] = [
    {
      name: 'build.bazel.remote.execution.v2.Execution',
      methods: { Execute: execute(tools), WaitExecution: waitExecution(tools) },
    },
    operationsService(tools),
  ]
  return services.map(reportingFaults)
}

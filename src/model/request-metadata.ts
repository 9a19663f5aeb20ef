/** Who asks, and for what: for logs, fairness and people. The client makes it up, so nothing may depend on it. */
export interface RequestMetadata {
  readonly toolName: string
  readonly toolVersion: string
  /** Ties together the calls for one action. */
  readonly actionId: string
  /** The invocation: one build. */
  readonly toolInvocationId: string
  /** Several invocations that belong together, such as those of one CI run. */
  readonly correlatedInvocationsId: string
  readonly actionMnemonic: string
  readonly targetId: string
  readonly configurationId: string
}

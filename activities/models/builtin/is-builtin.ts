/** Whether a model is one of those inside this process: they know words, not meanings. */
export const isBuiltin = ({ modelName }: { modelName: string }): boolean => modelName.startsWith('builtin/');

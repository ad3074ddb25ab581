// How the warning about a skill that does not exist begins: of several repositories, one that has it is enough.
export const unknownSkillStart = "There is no skill ";

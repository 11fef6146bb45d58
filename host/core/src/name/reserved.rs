//! The names that only built-ins may have.

/// Whether `name` belongs to a built-in, present or to come. Nothing but a built-in may take it.
///
/// The list is the union of IronClaw's protected names and of the tool inventories and aliases of GoClaw, the GoClaw
/// Tools Engine and Goa, so that a policy written for one of them can never be made to mean a stranger's tool.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// Sorted; a test holds it so.
const RESERVED: &[&str] = &[
    "agent",
    "agent_swarm",
    "agents_list",
    "apply-patch",
    "apply_patch",
    "ask_user_question",
    "bash",
    "bg_exec",
    "browser",
    "build_software",
    "calc",
    "cancel_job",
    "canvas",
    "create_image",
    "create_job",
    "cron",
    "datetime",
    "db_query",
    "db_write",
    "echo",
    "edit",
    "edit_file",
    "enter_plan_mode",
    "exec",
    "exit_plan_mode",
    "file_read",
    "file_write",
    "gateway",
    "git",
    "glob",
    "goa_command",
    "http",
    "image",
    "job_events",
    "job_prompt",
    "job_status",
    "json",
    "json_transform",
    "list_dir",
    "list_files",
    "list_jobs",
    "lsp",
    "memento",
    "memory_get",
    "memory_read",
    "memory_search",
    "memory_tree",
    "memory_write",
    "message",
    "nodes",
    "process",
    "python",
    "read",
    "read_file",
    "read_image",
    "read_media",
    "read_output",
    "regex",
    "schedule",
    "search",
    "search_tools",
    "secret_get",
    "secret_list",
    "session_event_read",
    "session_search",
    "session_status",
    "sessions_history",
    "sessions_list",
    "sessions_send",
    "sessions_spawn",
    "shell",
    "skill_search",
    "smartsearch",
    "sop_run",
    "spawn",
    "spreadsheet",
    "ssh_bash",
    "subagent",
    "subagents",
    "swarm",
    "team",
    "team_tasks",
    "terminal",
    "text_utils",
    "time",
    "todo_list",
    "tool_activate",
    "tool_auth",
    "tool_info",
    "tool_install",
    "tool_list",
    "tool_remove",
    "tool_search",
    "tts",
    "verify",
    "wait",
    "web_fetch",
    "web_search",
    "webfetch",
    "whatsapp_login",
    "write",
    "write_file",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_sorted_and_found() {
        assert!(RESERVED.is_sorted());
        assert!(is_reserved("shell") && is_reserved("echo") && is_reserved("calc"));
        assert!(!is_reserved("count") && !is_reserved("evaluate"));
    }
}

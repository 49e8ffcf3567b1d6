//! Options of `campaign`: tables of vxbench runs.

use super::client::ClientsArgs;
use super::result::{KEPT, ResultArgs};
use super::value::{bytes, seconds};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// `ioscape campaign`.
#[derive(Debug, Args)]
pub struct CampaignArgs {
    /// What to do with campaigns.
    #[command(subcommand)]
    pub action: CampaignAction,
}

impl CampaignArgs {
    /// The first place that is measured.
    pub fn measured_on(&self) -> Option<&Path> {
        match &self.action {
            CampaignAction::Run(args) => args.places.first().map(PathBuf::as_path),
            CampaignAction::List | CampaignAction::Show { .. } => None,
        }
    }
}

/// What to do with campaigns.
#[derive(Debug, Subcommand)]
pub enum CampaignAction {
    /// List the campaigns that come with ioscape
    List,
    /// Print a campaign file, to read or to adapt
    Show {
        /// Name of a campaign, or a file of your own
        name: String,
    },
    /// Measure a table
    Run(Box<CampaignRunArgs>),
}

/// `ioscape campaign run`.
#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(KEPT)))]
pub struct CampaignRunArgs {
    /// Name of a campaign, or a file of your own
    pub name: String,
    /// Directories and block devices, side by side in the table; with --fs, the directory for the loop devices' files
    #[arg(required = true, value_name = "DIR")]
    pub places: Vec<PathBuf>,
    /// Make these file systems on loop devices, or each on a device named, side by side: ext4, xfs, btrfs, f2fs, bcachefs, tmpfs,
    /// raw; several of a kind as ext4-a, ext4-b
    #[arg(long, value_name = "FS", value_delimiter = ',', requires = "as_root_make")]
    pub fs: Vec<String>,
    /// Allow --fs to make, mount and remove loop devices and file systems (needs root)
    #[arg(long, requires = "fs")]
    pub as_root_make: bool,
    /// Further words for the program that makes a file system of --fs, such as 'ext4-b=-O ^has_journal'
    #[arg(long, value_name = "FS=WORDS", requires = "fs", allow_hyphen_values = true)]
    pub mkfs: Vec<String>,
    /// Mount options of a file system of --fs, such as ext4-b=noatime,data=writeback
    #[arg(long, value_name = "FS=OPTIONS", requires = "fs")]
    pub mount: Vec<String>,
    /// Size of each loop device of --fs
    #[arg(long, value_name = "SIZE", default_value = "8G", requires = "fs", value_parser = bytes)]
    pub fs_size: u64,
    /// How many times every cell is measured [default: as the campaign says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// Largest file [default: what half of the free space holds]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub max_file_size: Option<u64>,
    /// Start no new row after this time
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Print the rows with the space and time they need; writes only a small temporary file, to estimate the time
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// Continue the interrupted campaign in FILE
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Allow the data of the named devices to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Whether clients measure together.
    #[command(flatten)]
    pub together: ClientsArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}
